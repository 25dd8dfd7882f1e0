import * as z from 'zod'
import { batchOf } from './batch.ts'
import { answered, field, named, patchOf, sent, shown } from './fields.ts'
import {
  choiceOf,
  inGroups,
  listOf,
  ofCourses,
  ofTerms,
  ofUsersOrEmails,
  oneOf,
  paging,
  periodAndUpdates,
  sorting,
} from './lists.ts'
import { everyone, operationsOf, teachers } from './operation.ts'
import { changed, managedBy, textOrNull, timeOrNull } from './record-fields.ts'
import { Instant, Reference } from './values.ts'

const enrollmentRoles = ['learner', 'instructor'] as const
export const EnrollmentRole = named('EnrollmentRole', 'Role of a user in a course', z.enum(enrollmentRoles))
const roleNames: Readonly<Record<string, EnrollmentRole>> = { student: 'learner', teacher: 'instructor' }
type EnrollmentRole = z.output<typeof EnrollmentRole>
/** Includes the names that other platforms use. */
const EnrollmentRoleInput = z
  .enum([...enrollmentRoles, 'student', 'teacher'])
  .transform((role): EnrollmentRole => roleNames[role] ?? (role as EnrollmentRole))
export const enrollmentStatuses = ['active', 'inactive', 'completed', 'deleted'] as const
export const EnrollmentStatus = named(
  'EnrollmentStatus',
  'Status of an enrolment',
  z.enum(enrollmentStatuses),
)

const attributes = {
  courseId: field(
    Reference,
    'Course: id or ext:<externalId>; responses have the id',
    'Course: id or external id',
  ),
  userId: field(
    Reference,
    'User: id, ext:<externalId> or email:<address>; responses have the id',
    'User: id, external id or e-mail address',
  ),
  role: field(
    EnrollmentRoleInput.default('learner'),
    'What the user is in the course: learner or instructor',
    'Role in the course',
  ),
  status: field(EnrollmentStatus.default('active'), 'active, inactive, completed or deleted', 'Status'),
  enrolledAt: field(
    Instant.optional(),
    'When the user was enrolled',
    'Day or time of the enrolment, or how long ago',
  ),
  managedBy,
}

/** Course, user and role cannot be changed later. */
export const EnrollmentInput = named(
  'EnrollmentInput',
  'The attributes of a new enrolment',
  sent({
    ...attributes,
    enrolledAt: { ...attributes.enrolledAt, says: 'When the user was enrolled (default now)' },
  }),
)
export type EnrollmentInput = z.output<typeof EnrollmentInput>

export const EnrollmentPatch = named(
  'EnrollmentPatch',
  'A merge patch of an enrolment (RFC 7396): absent attributes are left unchanged; the course, the user and the role cannot be changed',
  patchOf(EnrollmentInput, () => attributes),
)

export const Enrollment = named(
  'Enrollment',
  'An enrolment: a user in a course. There is at most one for each user, course and role',
  shown(() => {
    const { courseId, userId, status, enrolledAt, managedBy } = answered(attributes)
    return {
      id: field(z.string(), 'Id of the enrolment, enr_…'),
      courseId,
      courseTitle: field(
        z.string(),
        'Title of the course as it is now, whatever the version of the enrolment',
      ),
      courseExternalId: textOrNull('The school’s own id of the course, as it is now'),
      userId,
      userEmail: field(
        z.string(),
        'E-mail address of the user as it is now, whatever the version of the enrolment',
      ),
      userExternalId: textOrNull('The school’s own id of the user, as it is now'),
      role: field(EnrollmentRole, attributes.role.says),
      status,
      enrolledAt,
      completedAt: timeOrNull('When the enrolment was completed; null if it is not'),
      source: field(
        z.string(),
        "How it was created: api, or progress (by the learner's first progress record)",
      ),
      managedBy,
      ...changed,
    }
  }),
)
export type Enrollment = z.output<typeof Enrollment>

export const enrollments = operationsOf('enrollments', {
  list: {
    at: 'GET /v1/enrollments',
    summary: 'List enrolments',
    roles: everyone,
    query: z.strictObject({
      course_id: ofCourses,
      user_id: ofUsersOrEmails,
      group_id: inGroups,
      term_id: ofTerms,
      role: oneOf('role', EnrollmentRoleInput, EnrollmentRole.options, { names: roleNames }),
      status: choiceOf('status', enrollmentStatuses),
      ...periodAndUpdates('Enrolled', 'enrolledAt'),
      sort: sorting(['createdAt', 'updatedAt', 'enrolledAt'], '-createdAt'),
      ...paging,
    }),
    ...listOf(Enrollment, 'enrolments'),
  },
  get: {
    at: 'GET /v1/enrollments/{enrollmentId}',
    summary: 'Show an enrolment',
    roles: everyone,
    response: Enrollment,
  },
  create: {
    at: 'POST /v1/enrollments',
    summary: 'Enrol a user in a course',
    roles: teachers,
    body: EnrollmentInput,
    response: Enrollment,
  },
  batch: {
    at: 'POST /v1/enrollments/batch',
    summary: 'Create or update up to 1,000 enrolments',
    roles: teachers,
    ...batchOf(EnrollmentInput, 'fail', 'EnrollmentBatch'),
  },
  update: {
    at: 'PUT /v1/enrollments/{enrollmentId}',
    summary: 'Update an enrolment',
    roles: teachers,
    body: EnrollmentPatch,
    merge: true,
    response: Enrollment,
  },
  delete: {
    at: 'DELETE /v1/enrollments/{enrollmentId}',
    summary: 'Delete an enrolment',
    roles: teachers,
    response: null,
  },
})
