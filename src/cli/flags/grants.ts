import { grants } from '../../contract/grants.ts'
import { filtersOf } from './derive-flags.ts'

export const filters = filtersOf(grants.list, {
  user_id: {
    summary: 'List the grants of another user: id, external id or e-mail address (admins only)',
  },
})
