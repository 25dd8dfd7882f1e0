import { UserInput } from '../../contract/users.ts'
import { flagsOf } from './flags-of.ts'

/** The flags of a user's fields. */
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
