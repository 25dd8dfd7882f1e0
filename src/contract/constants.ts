/** From easiest to hardest: `sort=difficulty` uses this order. */
export const difficulties = ['beginner', 'intermediate', 'advanced', 'expert'] as const

export const courseStatuses = ['draft', 'published', 'archived'] as const

export const roles = ['admin', 'instructor', 'learner', 'analyst'] as const
export const userStatuses = ['active', 'suspended', 'deleted'] as const

export const scopes = ['read', 'write', 'admin'] as const

/** Names are those of OneRoster. */
export const machineScopes = [
  'roster.readonly',
  'gradebook.readonly',
  'gradebook.createput',
  'gradebook.delete',
] as const
export type MachineScope = (typeof machineScopes)[number]

/** `standard` is any sender of Standard Webhooks. */
export const lmsKinds = [
  'canvas',
  'moodle',
  'openedx',
  'thinkific',
  'classroom',
  'oneroster',
  'standard',
] as const
export type LmsKind = (typeof lmsKinds)[number]

export const readableKinds = ['canvas', 'moodle', 'openedx', 'classroom', 'oneroster'] as const
export type ReadableKind = (typeof readableKinds)[number]

/** Kinds of records that are read from other systems, in the order in which an academy needs them. */
export const recordParts = [
  'terms',
  'users',
  'courses',
  'groups',
  'memberships',
  'enrollments',
  'items',
  'grades',
] as const
export type RecordPart = (typeof recordParts)[number]

/** None, 100% when the course is passed, or the grade as the percentage. */
export const gradeToProgressChoices = ['none', 'completed_on_pass', 'percent'] as const
export type GradeToProgress = (typeof gradeToProgressChoices)[number]

export const mappedNouns = ['course', 'user'] as const
export type MappedNoun = (typeof mappedNouns)[number]

export const maxPageSize = 100
export const defaultPageSize = 20

/** Item for the course as a whole. */
export const wholeCourse = '$course'

/** Limit of the maximum score, too. */
export const maxScore = 1_000_000

/** Maximum ratio of a score to its maximum: sums of grades in millionths of a per cent stay exact. */
export const maxScoreRatio = 100

/** A smaller one would leave the range of a double when it is divided by its maximum. */
const minScore = 1e-9

export const notGradableText = `must be 0, or from ${minScore} to ${maxScoreRatio} times the maximum`

/** False for a score too small to calculate with, or too far above its maximum. */
export function isGradable(score: number, maximum: number): boolean {
  return (score === 0 || score >= minScore) && score <= maximum * maxScoreRatio
}

/** The text continues the name of the field. */
export function aboveMaximumText(maximum: number): string {
  return `must be at most the maximum, ${maximum}, unless it is extra credit`
}

/** Names the change of many records that a request belongs to. */
export const changeHeader = 'change-id'
/** Names the command of a request that is a change by itself. */
export const commandHeader = 'change-command'

export const maxPlannedSteps = 1_000_000
/** Steps of a plan in one transaction, for which others wait: about half a second. */
export const maxPlannedWrites = 2_000

/** Nouns of records whose changes can be undone, in the order of their restoring: each after those that it refers to. */
export const undoableNouns = [
  'term',
  'user',
  'course',
  'group',
  'membership',
  'lesson',
  'enrollment',
  'grade',
  'mapping',
] as const
export type UndoableNoun = (typeof undoableNouns)[number]

export const xapiVersions = ['1.0.3', '2.0.0'] as const
export type XapiVersion = (typeof xapiVersions)[number]

/** Sections of all data about a person, in order, with what each is about. */
export const personalSections = {
  user: 'The account',
  apiKeys: 'API keys of the user, without the secret',
  calendars: 'Calendars at secret addresses, without the address',
  sessions: 'Browser sessions',
  grants: 'Applications that the user allowed to act for them',
  storedResponses: 'Requests of the last day whose responses are stored for a repetition',
  enrollments: 'Enrolments, also in course teams',
  progress: 'Progress in courses',
  progressHistory: 'Every step of the progress',
  grades: 'Grades, also unpublished ones',
  gradeHistory: 'Every version of the grades',
  gradeResults: 'What other systems said of a grade besides its score, such as comments',
  courseGrades: 'Grades of courses',
  memberships: 'Groups that the user is a member of',
  createdCourses: 'Courses that the user created',
  deletedEnrollments: 'Enrolments in deleted courses that can be restored',
  deletedProgress: 'Progress in such courses',
  deletedProgressHistory: 'Every step of that progress',
  deletedGrades: 'Grades in such courses',
  deletedGradeHistory: 'Every version of those grades',
  deletedGradeResults: 'What other systems said of those grades',
  deletedCourseGrades: 'Grades of such courses',
  deletedMemberships: 'Members of deleted groups that can be restored',
  deletedCreatedCourses: 'Deleted courses that the user created',
  mappings: 'Ids of the user in other systems',
  deliveries: 'Events about the user that other systems sent',
  unmatchedDeliveries: 'Such events that name the user in another way, as before an address changed',
  webhookMessages: 'Number of events about the user that are stored for receivers',
  changes: 'Changes of many records that the user made',
  actions: 'What the user did, from the audit log',
  accountEntries: 'What was done to the account, from the audit log',
  relatedEntries: 'What was done to other records of the user, such as grades, from the audit log',
} as const
export type PersonalSection = keyof typeof personalSections

export const singleSections: readonly PersonalSection[] = ['user', 'webhookMessages']

export const attentionKinds = ['inactive', 'stuck', 'not_passed'] as const
export type Attention = (typeof attentionKinds)[number]

/** Calendar days (UTC) without access or progress after which a learner needs attention. */
export const attentionDays = 14

/** Percentage completed below which a learner without progress is stuck. */
export const stuckBelow = 50

export const activityUnits = ['day', 'week', 'month'] as const
export type ActivityUnit = (typeof activityUnits)[number]

export const maxActivityPeriods = 1000

export const gradeGroupings = ['item'] as const

export const maxGradebookItems = 5_000
