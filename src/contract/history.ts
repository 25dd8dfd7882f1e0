import * as z from 'zod'
import { Time } from './field.ts'

/** What each entry of a version history says, beside whose it is. */
export const versionEntry = {
  version: z.int(),
  createdAt: Time,
  userId: z.string(),
  userEmail: z.string().nullable(),
  modifiedAttributes: z.array(z.string()),
}

/** What differs between two versions: one entry per changed place, arrays as wholes. */
export const Changes = z.array(
  z.object({
    pointer: z.string(),
    from: z.unknown(),
    to: z.unknown(),
  }),
)
export type Changes = z.output<typeof Changes>

/** The other version of a comparison. */
export const CompareTo = z.coerce
  .number()
  .int()
  .min(1)
  .optional()
  .meta({ description: 'Version to compare with (default the newest)' })
