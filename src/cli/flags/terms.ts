import { TermInput, terms } from '../../contract/terms.ts'
import { filtersOf, flagsOf } from './derive-flags.ts'

export const fields = flagsOf(TermInput, {
  startDate: { placeholder: 'day' },
  endDate: { placeholder: 'day' },
})

export const filters = filtersOf(terms.list, { name: { summary: 'Filter by name' } })
