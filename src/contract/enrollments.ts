import * as z from 'zod'
import { BatchResult, batchOf } from './batch.ts'
import { choices, Instant, ManagedBy, ofCourses, ofUsers, Reference, Time } from './field.ts'
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
  enrolledAt: Instant.optional(),
  managedBy: ManagedBy,
})
export type EnrollmentInput = z.output<typeof EnrollmentInput>

export const EnrollmentPatch = patchOf(EnrollmentInput)

export const Enrollment = z.object({
  id: z.string(),
  courseId: z.string(),
  courseTitle: z.string(),
  courseExternalId: z.string().nullable(),
  userId: z.string(),
  userEmail: z.string(),
  userExternalId: z.string().nullable(),
  role: EnrollmentRole,
  status: EnrollmentStatus,
  enrolledAt: Time,
  completedAt: Time.nullable(),
  source: z.string(),
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
      course_id: ofCourses,
      user_id: ofUsers,
      role: EnrollmentRole.optional().meta({ description: 'Filter by role' }),
      status: choices(enrollmentStatuses).optional(),
      sort: sorting(['createdAt', 'updatedAt', 'enrolledAt'], '-createdAt'),
      ...paging,
    }),
    response: page(Enrollment),
    status: 200,
    list: true,
    filters: {
      course_id: { by: 'reference', field: 'courseId', to: 'courseId', several: true },
      user_id: { by: 'reference', field: 'userId', to: 'userId', email: 'userEmail', several: true },
      role: { by: 'choice', field: 'role', choices: EnrollmentRole.options },
      status: { by: 'choice', field: 'status', choices: enrollmentStatuses },
    },
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
    published: false,
    scope: 'write',
    roles: teachers,
    body: batchOf(EnrollmentInput, 'fail'),
    response: BatchResult,
    status: 200,
    report: true,
  }),
  update: operation({
    id: 'enrollments.update',
    method: 'PUT',
    path: '/v1/enrollments/{enrollmentId}',
    summary: 'Update an enrolment',
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
    published: false,
    scope: 'write',
    roles: teachers,
    response: null,
    status: 204,
  }),
}
