import { UserInput, users } from '../../contract/users.ts'
import { filtersOf, flagsOf } from './derive-flags.ts'

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
  q: { name: 'search', summary: 'Search e-mail addresses, usernames and names' },
  email: { summary: 'Filter by e-mail address' },
})
