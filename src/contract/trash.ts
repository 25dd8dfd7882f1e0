import { BooleanParam } from './field.ts'
import { sorting } from './page.ts'

/** The query parameter that deletes permanently. */
export const erase = BooleanParam.default(false).meta({
  description: 'Delete permanently, also what is deleted already; requires an admin (default false)',
})

/** The order of a list of deleted records. */
export const trashSort = sorting(['deletedAt'], '-deletedAt')
