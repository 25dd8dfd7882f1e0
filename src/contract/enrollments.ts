import * as z from 'zod'
import { BatchResult, batchOf } from './batch.ts'
import { choices, Instant, ManagedBy, Reference, Time } from './field.ts'
import { everyone, operation, teachers } from './operation.ts'
import { page, paging, sorting } from './page.ts'
import { patchOf } from './patch.ts'

export const enrollmentRoles = ['learner', 'instructor'] as const
export const EnrollmentRole = z.enum(enrollmentRoles)
export const enrollmentStatuses = ['active', 'inactive', 'completed', 'deleted'] as const
export const EnrollmentStatus = z.enum(enrollmentStatuses)

/** The writable attributes of an enrolment. Course, user and role cannot be changed later. */
export const EnrollmentInput = z.strictObject({
  courseId: Reference,
  userId: Reference,
  role: EnrollmentRole.default('learner'),
  status: EnrollmentStatus.default('active'),
  enrolledAt: Instant.optional().meta({ description: 'Absent: now' }),
  managedBy: ManagedBy,
})
export type EnrollmentInput = z.output<typeof EnrollmentInput>

export const EnrollmentPatch = patchOf(EnrollmentInput)

export const Enrollment = z.object({
  id: z.string(),
  courseId: z.string(),
  userId: z.string(),
  role: EnrollmentRole,
  status: EnrollmentStatus,
  enrolledAt: Time,
  completedAt: Time.nullable(),
  source: z.string().meta({ description: 'api or progress: what made it' }),
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
      course_id: Reference.optional(),
      user_id: Reference.optional(),
      role: EnrollmentRole.optional(),
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
    summary: 'Enrol a user in a course; a deleted enrolment is revived',
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
    summary: 'Enrol up to 1,000 users, each on its own',
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
    summary: 'Change an enrolment',
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
    summary: 'Delete an enrolment, kept as deleted',
    published: false,
    scope: 'write',
    roles: teachers,
    response: null,
    status: 204,
  }),
}
