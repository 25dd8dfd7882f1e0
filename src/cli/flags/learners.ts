import { EnrollmentInput, enrollments } from '../../contract/enrollments.ts'
import { GradeInput, grades } from '../../contract/grades.ts'
import { ProgressInput, progress } from '../../contract/progress.ts'
import { UserInput, users } from '../../contract/users.ts'
import { filtersOf, flagsOf } from './derive-flags.ts'

export const userFlags = {
  fields: flagsOf(
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
  ),
  filters: filtersOf(users.list, {
    q: { name: 'search', summary: 'Search e-mail addresses, usernames and names' },
    email: { summary: 'Filter by e-mail address' },
  }),
}

export const enrollmentFlags = {
  fields: flagsOf(
    EnrollmentInput,
    {
      userId: {
        summary: 'User: id, external id or e-mail address; several as arguments',
        byArgument: true,
      },
    },
    ['courseId', 'userId', 'role', 'status'],
    ['enrolledAt'],
  ),
  changes: flagsOf(EnrollmentInput, {}, [], ['courseId', 'userId', 'role', 'enrolledAt']),
  filters: filtersOf(enrollments.list),
}

export const progressFlags = {
  fields: flagsOf(ProgressInput, {
    completionPercentage: { name: 'completion' },
    lastAccessed: { default: 'now' },
  }),
  filters: filtersOf(progress.all),
  learnerFilters: filtersOf(progress.list),
  historyFilters: filtersOf(progress.history, {
    course_id: { summary: 'Course: id or external id', required: true },
  }),
}

/** The learner is an argument. */
const { learnerId: _, ...gradeFields } = flagsOf(
  GradeInput,
  {
    scoreGiven: { name: 'score', none: true },
    scoreMaximum: {
      name: 'maximum',
      default: 'unchanged, else that of the item for other learners, else 100',
    },
    itemId: { name: 'item', asked: true },
    label: { default: 'unchanged, else that of the item for other learners' },
    weight: {
      default: 'unchanged, else from the assessment criteria, else that of the item for other learners',
    },
    source: { default: 'that of the stored grade of this item, else manual' },
    published: { default: 'unchanged, else on' },
  },
  ['courseId', 'scoreGiven', 'scoreMaximum', 'itemId', 'label', 'weight', 'source', 'published'],
  ['gradedAt'],
)

export const gradeFlags = {
  fields: gradeFields,
  filters: filtersOf(grades.list, {
    item_id: { name: 'item', summary: 'Filter by item' },
  }),
  historyFilters: filtersOf(grades.history),
  reportFilters: filtersOf(grades.report, {
    include_unpublished: { name: 'unpublished', summary: 'Include grades that learners do not see yet' },
  }),
}
