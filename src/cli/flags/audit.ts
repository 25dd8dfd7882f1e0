import { audit } from '../../contract/audit.ts'
import { filtersOf } from './derive-flags.ts'

export const filters = filtersOf(
  audit.list,
  {
    user_id: { summary: 'Filter by who did it: id, external id or e-mail address' },
    credential: { summary: 'Filter by credential: id of a key or grant, browser or local' },
    action: { summary: 'Filter by action, such as course.published', hasChoicesInSummary: true },
    noun: { summary: 'Filter by type of record' },
    subject_id: { name: 'subject', summary: 'Filter by the id of the record' },
    change_id: { name: 'change', summary: 'Filter by the id of the change of many records' },
  },
  ['request_id'],
)
