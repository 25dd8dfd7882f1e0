import { UserInput, users } from '../../contract/users.ts'
import { filtersOf, flagsOf, groupFilter } from './derive-flags.ts'

export const fields = flagsOf(
  UserInput,
  {
    'profile.learningPreferences.languages': { kind: 'words' },
    'profile.learningPreferences.contentFormats': { kind: 'words' },
    'profile.learningPreferences.notifications.email': { name: 'email-notifications' },
    'profile.learningPreferences.notifications.push': { name: 'push-notifications' },
  },
  ['email', 'role', 'externalId'],
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
