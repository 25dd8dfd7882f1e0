import * as z from 'zod'
import { BooleanParam, Time } from './field.ts'
import { sorting } from './page.ts'

/** What is said of everything that was deleted: by whom and when, and until when it can be restored. */
export const deletedEntry = {
  userId: z.string(),
  deletedAt: Time,
  restorableUntil: Time,
}

/** The query parameter that deletes for good. */
export const erase = BooleanParam.default(false).meta({
  description: 'Delete permanently, also what is deleted already; requires an admin (default false)',
})

/** The order of a list of what was deleted. */
export const trashSort = sorting(['deletedAt'], '-deletedAt')
