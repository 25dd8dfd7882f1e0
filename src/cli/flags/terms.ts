import { TermInput, terms } from '../../contract/terms.ts'
import { filtersOf, flagsOf } from './derive-flags.ts'

/** The flags of a term's fields. */
export const fields = flagsOf(TermInput, {
  startDate: { placeholder: 'day' },
  endDate: { placeholder: 'day' },
})

/** The filters of lists of terms. */
export const filters = filtersOf(terms.list, {
  name: { summary: 'Filter by name' },
  external_id: { summary: 'Filter by your own id' },
  managed_by: { summary: 'Filter by managing system' },
})
