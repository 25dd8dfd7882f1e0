import * as z from 'zod'
import { BatchResult, batchOf } from './batch.ts'
import {
  choices,
  Instant,
  ManagedBy,
  ofCourses,
  ofUsers,
  period,
  Reference,
  Time,
  UpdatedSince,
} from './field.ts'
import { inPeriod, updatedSince } from './filter.ts'
import { everyone, operation, teachers } from './operation.ts'
import { page, paging, sorting } from './page.ts'
import { patchOf } from './patch.ts'

const enrollmentRoles = ['learner', 'instructor'] as const
export const EnrollmentRole = z.enum(enrollmentRoles)
const roleNames: Readonly<Record<string, EnrollmentRole>> = { student: 'learner', teacher: 'instructor' }
type EnrollmentRole = z.output<typeof EnrollmentRole>
/** A role in a request: the names that other platforms have for ours are accepted as well. */
const EnrollmentRoleInput = z
  .enum([...enrollmentRoles, 'student', 'teacher'])
  .transform((role): EnrollmentRole => roleNames[role] ?? (role as EnrollmentRole))
export const enrollmentStatuses = ['active', 'inactive', 'completed', 'deleted'] as const
export const EnrollmentStatus = z.enum(enrollmentStatuses)

/** The writable attributes of an enrolment. Course, user and role cannot be changed later. */
export const EnrollmentInput = z.strictObject({
  courseId: Reference,
  userId: Reference,
  role: EnrollmentRoleInput.default('learner'),
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
      role: EnrollmentRoleInput.optional().meta({ description: 'Filter by role' }),
      status: choices(enrollmentStatuses).optional(),
      ...period('Enrolled'),
      updated_since: UpdatedSince,
      sort: sorting(['createdAt', 'updatedAt', 'enrolledAt'], '-createdAt'),
      ...paging,
    }),
    response: page(Enrollment),
    status: 200,
    list: true,
    filters: {
      course_id: { by: 'reference', field: 'courseId', to: 'courseId', several: true },
      user_id: { by: 'reference', field: 'userId', to: 'userId', email: 'userEmail', several: true },
      role: { by: 'choice', field: 'role', choices: EnrollmentRole.options, names: roleNames },
      status: { by: 'choice', field: 'status', choices: enrollmentStatuses },
      ...inPeriod('enrolledAt'),
      updated_since: updatedSince,
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
