import * as z from 'zod'
import { BatchResult, batchDescription, batchOf } from './batch.ts'
import { choices, Instant, ManagedBy, ofCourse, ofUser, Reference, Time } from './field.ts'
import { everyone, operation, teachers } from './operation.ts'
import { page, paging, sorting } from './page.ts'
import { patchOf } from './patch.ts'

const enrollmentRoles = ['learner', 'instructor'] as const
export const EnrollmentRole = z.enum(enrollmentRoles)
const enrollmentStatuses = ['active', 'inactive', 'completed', 'deleted'] as const
export const EnrollmentStatus = z.enum(enrollmentStatuses)

/** The writable attributes of an enrolment. Course, user and role cannot be changed later. */
export const EnrollmentInput = z.strictObject({
  courseId: Reference,
  userId: Reference,
  role: EnrollmentRole.default('learner'),
  status: EnrollmentStatus.default('active'),
  enrolledAt: Instant.optional().meta({ description: 'When the user was enrolled (default now)' }),
  managedBy: ManagedBy,
})
export type EnrollmentInput = z.output<typeof EnrollmentInput>

export const EnrollmentPatch = patchOf(EnrollmentInput)

export const Enrollment = z.object({
  id: z.string(),
  courseId: z.string(),
  courseTitle: z.string().meta({ description: 'The title of the course as it is now, whatever the version' }),
  userId: z.string(),
  userEmail: z
    .string()
    .meta({ description: 'The e-mail address of the user as it is now, whatever the version' }),
  role: EnrollmentRole,
  status: EnrollmentStatus,
  enrolledAt: Time,
  completedAt: Time.nullable(),
  source: z
    .string()
    .meta({ description: "How it was created: api, or progress (by the learner's first progress record)" }),
  managedBy: z.string().nullable(),
  version: z.int(),
  createdAt: Time,
  updatedAt: Time,
})
export type Enrollment = z.output<typeof Enrollment>

/** Enrolments: a user in a course, as learner or instructor. */
export const enrollments = {
  list: operation({
    id: 'enrollments.list',
    method: 'GET',
    path: '/v1/enrollments',
    summary: 'List enrolments',
    published: false,
    scope: 'read',
    roles: everyone,
    query: z.strictObject({
      course_id: ofCourse,
      user_id: ofUser,
      role: EnrollmentRole.optional().meta({ description: 'Filter by role' }),
      status: choices(enrollmentStatuses).optional(),
      sort: sorting(['createdAt', 'updatedAt', 'enrolledAt'], '-createdAt'),
      ...paging,
    }),
    response: page(Enrollment),
    status: 200,
    list: true,
  }),
  get: operation({
    id: 'enrollments.get',
    method: 'GET',
    path: '/v1/enrollments/{enrollmentId}',
    summary: 'Show an enrolment',
    published: false,
    scope: 'read',
    roles: everyone,
    response: Enrollment,
    status: 200,
  }),
  create: operation({
    id: 'enrollments.create',
    method: 'POST',
    path: '/v1/enrollments',
    summary: 'Enrol a user in a course',
    description: 'A deleted enrolment of the same user, course and role is restored.',
    published: false,
    scope: 'write',
    roles: teachers,
    body: EnrollmentInput,
    response: Enrollment,
    status: 201,
  }),
  batch: operation({
    id: 'enrollments.batch',
    method: 'POST',
    path: '/v1/enrollments/batch',
    summary: 'Create or update up to 1,000 enrolments',
    description: batchDescription,
    published: false,
    scope: 'write',
    roles: teachers,
    body: batchOf(EnrollmentInput, 'fail'),
    response: BatchResult,
    status: 200,
  }),
  update: operation({
    id: 'enrollments.update',
    method: 'PUT',
    path: '/v1/enrollments/{enrollmentId}',
    summary: 'Update an enrolment',
    description: 'The course, the user and the role cannot be changed.',
    published: false,
    scope: 'write',
    roles: teachers,
    body: EnrollmentPatch,
    merge: true,
    response: Enrollment,
    status: 200,
  }),
  delete: operation({
    id: 'enrollments.delete',
    method: 'DELETE',
    path: '/v1/enrollments/{enrollmentId}',
    summary: 'Delete an enrolment',
    description: 'Enrolling the user again restores it. Progress is kept.',
    published: false,
    scope: 'write',
    roles: teachers,
    response: null,
    status: 204,
  }),
}
