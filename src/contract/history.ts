import * as z from 'zod'
import { field, shown } from './fields.ts'

/** Returns a list of differences of two versions: one entry per changed path, such as `example`; arrays are one entry. */
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

/** Returns the fields of a comparison of two versions, except the id of the record. */
export function diffFields(example: string) {
  return {
    from: field(z.int(), 'Version on the left of the comparison'),
    to: field(z.int(), 'Version on the right of the comparison'),
    changes: field(changesLike(example), 'One entry for each place that differs; lists differ as a whole'),
  }
}

/** Number of the version to compare with. */
export const CompareTo = z.coerce
  .number()
  .int()
  .min(1)
  .optional()
  .meta({ description: 'Version to compare with (default the newest)' })
