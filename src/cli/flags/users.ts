import { UserInput, users } from '../../contract/users.ts'
import { filtersOf, flagsOf, groupFilter } from './derive-flags.ts'

export const fields = flagsOf(
  UserInput,
  {},
  ['email', 'role', 'externalId'],
  [
    'profile.displayName',
    'profile.bio',
    'profile.locale',
    'profile.avatarUrl',
    'profile.learningPreferences',
  ],
)

export const filters = filtersOf(users.list, {
  role: { summary: 'Filter by role' },
  status: { summary: 'Filter by status' },
  q: { name: 'search', summary: 'Search e-mail addresses, usernames and names' },
  email: { summary: 'Filter by e-mail address' },
  external_id: { summary: 'Filter by your own id' },
  managed_by: { summary: 'Filter by managing system' },
  group_id: groupFilter,
  include_deleted: { summary: 'Include deleted users' },
})
