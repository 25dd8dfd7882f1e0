import { below, recordWords, type Words } from './record.ts'

const profile = below('profile', {
  '': 'Name, settings and learning preferences of the user',
  firstName: 'First name',
  lastName: 'Last name',
  displayName: 'Name to show to others',
  timezone: 'IANA time zone, such as Europe/Vienna',
  locale: 'Language and region, as a BCP 47 tag such as en-GB',
  avatarUrl: 'Address of a picture, http or https',
  bio: 'About the user, in their own words',
  learningPreferences: 'How the user prefers to learn',
  'learningPreferences.languages': 'Preferred languages of content as BCP 47 tags, best first',
  'learningPreferences.preferredDifficulty': 'Preferred level of courses',
  'learningPreferences.pace': 'Preferred pace',
  'learningPreferences.contentFormats': 'Preferred forms of content, best first',
  'learningPreferences.weeklyGoalMinutes': 'Planned learning time per week, in minutes',
  'learningPreferences.audio': 'Whether to play audio',
  'learningPreferences.captions': 'Whether to show captions',
  'learningPreferences.deliverySpeed': 'Playback speed, 0.25–4; 1 is normal',
  'learningPreferences.accessibility': 'Accessibility settings of the user',
  'learningPreferences.accessibility.highContrast': 'Use high contrast',
  'learningPreferences.accessibility.screenReader': 'Optimise for a screen reader',
  'learningPreferences.accessibility.reducedMotion': 'Avoid animation',
  'learningPreferences.notifications': 'Notification settings of the user',
  'learningPreferences.notifications.email': 'Send e-mail',
  'learningPreferences.notifications.push': 'Send push notifications',
})

const username = 'Name to sign in with instead of the e-mail address, unique'
const password = 'Password to sign in with, 12–256 characters; never shown. null removes it'

const attributes = {
  externalId: recordWords.externalId,
  email: 'E-mail address; unique, ignoring case',
  username,
  role: 'Role of the user; teacher, student and observer are accepted for instructor, learner and analyst',
  status: 'active, suspended or deleted: only active users can sign in',
  ...profile,
  managedBy: recordWords.managedBy,
} satisfies Words

export const userWords = {
  '': 'A user, without the password',
  id: 'Id of the user, usr_…',
  ...attributes,
  role: 'Role of the user: it limits what their credentials can do',
  version: recordWords.version,
  createdAt: recordWords.createdAt,
  updatedAt: recordWords.updatedAt,
} satisfies Words

export const userInputWords = { ...attributes, password, '': 'The attributes of a new user' } satisfies Words

export const userPatchWords = {
  ...attributes,
  password,
  '': 'A merge patch of a user (RFC 7396): absent attributes are left unchanged, null resets one to its default, lists are replaced',
} satisfies Words

export const currentUserWords = {
  ...userWords,
  '': 'The signed-in user, and what the credential in use may do',
  scopes: 'Scopes of the credential in use',
  authMethod: 'How the request was authenticated',
} satisfies Words

export const ownPatchWords = {
  ...profile,
  '': 'A merge patch of your own account (RFC 7396): absent attributes are left unchanged, null resets one to its default, lists are replaced',
  username,
  password,
  currentPassword: 'Your current password; required to set a new one',
} satisfies Words
