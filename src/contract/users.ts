import * as z from 'zod'
import { batchOf } from './batch.ts'
import { type PersonalSection, personalSections, roles, scopes, userStatuses } from './constants.ts'
import { Difficulty } from './course-parts.ts'
import { answered, field, named, patchOf, sent, shown } from './fields.ts'
import {
  BooleanParam,
  choiceOf,
  exactly,
  filtering,
  inGroups,
  listOf,
  paging,
  periodAndUpdates,
  search,
  sorting,
} from './lists.ts'
import { admins, everyone, operationsOf, teachers } from './operation.ts'
import { changed, externalId, managedBy } from './record-fields.ts'
import { Language, optional, Timezone, text, WebAddress } from './values.ts'

const Accessibility = sent({
  highContrast: field(z.boolean().default(false), 'Use high contrast'),
  screenReader: field(z.boolean().default(false), 'Optimise for a screen reader'),
  reducedMotion: field(z.boolean().default(false), 'Avoid animation', 'Reduce motion'),
})

const Notifications = sent({
  email: field(z.boolean().default(true), 'Send e-mail', 'Send notifications by e-mail'),
  push: field(z.boolean().default(false), 'Send push notifications'),
})

const LearningPreferences = sent({
  languages: field(
    z.array(Language).max(20).default([]),
    'Preferred languages of content as BCP 47 tags, best first',
    'Preferred languages',
  ),
  preferredDifficulty: field(optional(Difficulty), 'Preferred level of courses', 'Preferred difficulty'),
  pace: field(optional(z.enum(['slow', 'normal', 'fast', 'self_paced'])), 'Preferred pace'),
  contentFormats: field(
    z
      .array(z.enum(['video', 'text', 'audio', 'interactive']))
      .max(4)
      .default([]),
    'Preferred forms of content, best first',
    'Preferred content formats',
  ),
  weeklyGoalMinutes: field(
    optional(z.int().min(0).max(10_080)),
    'Planned learning time per week, in minutes',
    'Weekly goal in minutes',
  ),
  audio: field(optional(z.enum(['on', 'off'])), 'Whether to play audio', 'Audio'),
  captions: field(optional(z.boolean()), 'Whether to show captions', 'Show captions'),
  deliverySpeed: field(
    optional(z.number().min(0.25).max(4)),
    'Playback speed, 0.25–4; 1 is normal',
    'Playback speed, 0.25–4',
  ),
  accessibility: field(Accessibility.prefault({}), 'Accessibility settings of the user'),
  notifications: field(Notifications.prefault({}), 'Notification settings of the user'),
})

const name = optional(text(1, 255))

export const Profile = sent({
  firstName: field(name, 'First name'),
  lastName: field(name, 'Last name'),
  displayName: field(name, 'Name to show to others', 'Display name'),
  timezone: field(
    optional(Timezone),
    'IANA time zone, such as Europe/Vienna',
    'Time zone, such as Europe/Vienna',
  ),
  locale: field(
    optional(Language),
    'Language and region, as a BCP 47 tag such as en-GB',
    'Language and region, such as de-AT',
  ),
  avatarUrl: field(optional(WebAddress), 'Address of a picture, http or https', 'URL of a picture'),
  bio: field(optional(z.string().max(2000)), 'About the user, in their own words', 'Short biography'),
  learningPreferences: field(LearningPreferences.prefault({}), 'How the user prefers to learn'),
})

export const Role = named('Role', 'Role of a user: it limits what their credentials can do', z.enum(roles))
export type Role = z.output<typeof Role>

const aliases = {
  student: 'learner',
  teacher: 'instructor',
  observer: 'analyst',
} as const satisfies Readonly<Record<string, Role>>

/** Includes the names that other platforms use. */
export const RoleInput = z
  .enum([...roles, 'student', 'teacher', 'observer'])
  .transform((role): Role => (role in aliases ? aliases[role as keyof typeof aliases] : (role as Role)))

export const UserStatus = named('UserStatus', 'Whether a user can sign in', z.enum(userStatuses))

const Email = z
  .string()
  .trim()
  .max(254, { abort: true })
  .meta({ format: 'email' })
  .regex(
    /^[^\s@"(),:;<>[\\\]]+@[^\s@.]+(\.[^\s@.]+)+$/u,
    'must be an e-mail address, such as ada@example.org',
  )

export const Password = z
  .string()
  .min(12, { abort: true })
  .max(256, { abort: true })
  .refine((text) => text !== text.charAt(0).repeat(text.length), {
    params: { code: 'common_password' },
    error: 'must not be one character repeated',
  })

/** Not validated by today's rules, since it may be older than they are. */
export const CurrentPassword = z.string().max(256)

const Username = optional(
  z.string().regex(/^[A-Za-z0-9._@-]{1,100}$/, 'must be 1 to 100 characters: letters, digits or . _ @ -'),
)

const username = field(
  Username,
  'Name to sign in with instead of the e-mail address, unique',
  'Username to sign in with',
)
const profile = field(Profile.prefault({}), 'Name, settings and learning preferences of the user')
const password = field(
  optional(Password).meta({ writeOnly: true }),
  'Password to sign in with, 12–256 characters; never shown. null removes it',
)

const attributes = {
  externalId: externalId('user'),
  email: field(Email, 'E-mail address; unique, ignoring case', 'E-mail address'),
  username,
  role: field(
    RoleInput.default('learner'),
    'Role of the user; teacher, student and observer are accepted for instructor, learner and analyst',
    'Role',
  ),
  status: field(
    UserStatus.default('active'),
    'active, suspended or deleted: only active users can sign in',
    'Account status',
  ),
  profile,
  password,
  managedBy,
}

export const UserInput = named('UserInput', 'The attributes of a new user', sent(attributes))
export type UserInput = z.output<typeof UserInput>

export const UserPatch = named(
  'UserPatch',
  'A merge patch of a user (RFC 7396): absent attributes are left unchanged, null resets one to its default, lists are replaced',
  patchOf(UserInput),
)

function shownFields() {
  const { password: _, ...shown } = attributes
  return {
    id: field(z.string(), 'Id of the user, usr_…'),
    ...answered(shown),
    role: field(Role, 'Role of the user: it limits what their credentials can do'),
    ...changed,
  }
}

export const User = named('User', 'A user, without the password', shown(shownFields))
export type User = z.output<typeof User>

/** The scopes are those of the credential in use. */
export const CurrentUser = named(
  'CurrentUser',
  'The signed-in user, and what the credential in use may do',
  shown(() => ({
    ...shownFields(),
    scopes: field(z.array(z.enum(scopes)), 'Scopes of the credential in use'),
    authMethod: field(z.enum(['api_key', 'oauth', 'local']), 'How the request was authenticated'),
  })),
)
export type CurrentUser = z.output<typeof CurrentUser>

export const OwnInput = sent({
  username,
  profile,
  password,
  currentPassword: field(
    optional(CurrentPassword).meta({ writeOnly: true }),
    'Your current password; required to set a new one',
  ),
})
export type OwnInput = z.output<typeof OwnInput>

export const OwnPatch = named(
  'OwnPatch',
  'A merge patch of your own account (RFC 7396): absent attributes are left unchanged, null resets one to its default, lists are replaced',
  patchOf(OwnInput),
)

const sectionNames = Object.keys(personalSections) as [PersonalSection, ...PersonalSection[]]

export const PersonalRecord = named(
  'PersonalRecord',
  'One record of the data about a person',
  shown(() => ({
    section: field(z.enum(sectionNames), 'Kind of the record'),
    record: field(z.record(z.string(), z.unknown()), 'The record, with the names of the stored fields'),
  })),
)
export type PersonalRecord = z.output<typeof PersonalRecord>

const { include_total: _, ...uncounted } = paging

export const users = operationsOf('users', {
  list: {
    at: 'GET /v1/users',
    summary: 'List users',
    roles: everyone,
    query: z.strictObject({
      role: choiceOf('role', roles, aliases),
      status: choiceOf('status', userStatuses),
      q: search('e-mail address, username and name', [
        'email',
        'username',
        'profile.firstName',
        'profile.lastName',
        'profile.displayName',
      ]),
      email: filtering(exactly('e-mail address', 'email'), { by: 'equal', field: 'email', anyCase: true }),
      external_id: exactly('external id', 'externalId'),
      managed_by: exactly('the system that manages them', 'managedBy'),
      group_id: inGroups,
      ...periodAndUpdates('Created', 'createdAt'),
      include_deleted: BooleanParam.default(false).meta({
        description: 'Include deleted users (default false)',
      }),
      sort: sorting(['createdAt', 'updatedAt', 'email'], '-createdAt'),
      ...paging,
    }),
    ...listOf(User, 'users'),
  },
  get: {
    at: 'GET /v1/users/{userId}',
    summary: 'Show a user',
    roles: everyone,
    response: User,
  },
  create: {
    at: 'POST /v1/users',
    summary: 'Create a user',
    published: true,
    roles: teachers,
    body: UserInput,
    response: User,
  },
  batch: {
    at: 'POST /v1/users/batch',
    summary: 'Create or update up to 1,000 users',
    roles: teachers,
    ...batchOf(UserInput, 'fail', 'UserBatch'),
  },
  update: {
    at: 'PUT /v1/users/{userId}',
    summary: 'Update a user',
    roles: admins,
    body: UserPatch,
    merge: true,
    response: User,
  },
  delete: {
    at: 'DELETE /v1/users/{userId}',
    summary: 'Delete a user',
    roles: admins,
    query: z.strictObject({
      erase: BooleanParam.default(false).meta({
        description: 'Anonymise the user permanently; requires an admin (default false)',
      }),
    }),
    elevatedBy: ['erase'],
    response: null,
  },
  data: {
    at: 'GET /v1/users/{userId}/data',
    summary: 'List all stored data about a person',
    scope: 'admin',
    query: z.strictObject(uncounted),
    ...listOf(PersonalRecord, 'the data about a person'),
  },
  profile: {
    at: 'GET /v1/user/profile',
    summary: 'Show the signed-in user',
    published: true,
    roles: everyone,
    response: CurrentUser,
  },
  updateProfile: {
    at: 'PUT /v1/user/profile',
    summary: 'Update your own profile, username or password',
    roles: everyone,
    body: OwnPatch,
    merge: true,
    response: CurrentUser,
  },
})
