import * as z from 'zod'
import { field, shown } from './fields.ts'

/** Returns the list of differences of two versions: one entry for each changed place, such as `example`, arrays as wholes. */
function changesLike(example: string) {
  return z.array(
    shown(() => ({
      pointer: field(z.string(), `JSON Pointer (RFC 6901) into the attributes, such as ${example}`),
      from: field(z.unknown(), 'Value in the version on the left; absent if it has none'),
      to: field(z.unknown(), 'Value in the version on the right; absent if it has none'),
    })),
  )
}
export type Changes = z.output<ReturnType<typeof changesLike>>

/** Returns the fields of a comparison of two versions, beside whose they are. */
export function diffFields(example: string) {
  return {
    from: field(z.int(), 'Version on the left of the comparison'),
    to: field(z.int(), 'Version on the right of the comparison'),
    changes: field(changesLike(example), 'One entry for each place that differs; lists differ as a whole'),
  }
}

/** The other version of a comparison. */
export const CompareTo = z.coerce
  .number()
  .int()
  .min(1)
  .optional()
  .meta({ description: 'Version to compare with (default the newest)' })
