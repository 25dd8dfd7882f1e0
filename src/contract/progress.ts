import * as z from 'zod'
import { BatchResult, batchOf } from './batch.ts'
import {
  Instant,
  ofCourse,
  ofCourses,
  ofUsers,
  Percent,
  period,
  Reference,
  Time,
  UpdatedSince,
} from './field.ts'
import { inPeriod, updatedSince } from './filter.ts'
import { everyone, operation, teachers } from './operation.ts'
import { page, paging } from './page.ts'

/** Derived from the completion percentage when progress is recorded. */
export const progressStatuses = ['not_started', 'in_progress', 'completed'] as const
export const ProgressStatus = z.enum(progressStatuses)

/** The progress of a learner in one course, always sent as a whole. */
export const ProgressInput = z.strictObject({
  courseId: Reference,
  completionPercentage: Percent,
  lastAccessed: Instant.optional(),
})
export type ProgressInput = z.output<typeof ProgressInput>

/** One item of a batch. */
export const ProgressItem = z.strictObject({ learnerId: Reference, ...ProgressInput.shape })
export type ProgressItem = z.output<typeof ProgressItem>

export const Progress = z.object({
  learnerId: z.string(),
  userEmail: z.string(),
  userExternalId: z.string().nullable(),
  courseId: z.string(),
  courseTitle: z.string(),
  courseExternalId: z.string().nullable(),
  completionPercentage: z.number(),
  status: ProgressStatus,
  startedAt: Time.nullable(),
  lastAccessed: Time,
  completedAt: Time.nullable(),
  version: z.int(),
  updatedAt: Time,
})
export type Progress = z.output<typeof Progress>

/** One entry of the progress history of a learner in a course. */
export const ProgressStep = z.object({
  learnerId: z.string(),
  userEmail: z.string(),
  userExternalId: z.string().nullable(),
  courseId: z.string(),
  courseTitle: z.string(),
  courseExternalId: z.string().nullable(),
  version: z.int(),
  completionPercentage: z.number(),
  status: ProgressStatus,
  lastAccessed: Time,
  recordedAt: Time,
})
export type ProgressStep = z.output<typeof ProgressStep>

const ProgressPage = page(Progress)
const ProgressStepPage = page(ProgressStep)

const { include_total: _, ...uncounted } = paging

/** The progress of learners, and its history. */
export const progress = {
  all: operation({
    id: 'progress.all',
    method: 'GET',
    path: '/v1/progress',
    summary: 'List the progress of all learners, in the order of their enrolments',
    published: false,
    scope: 'read',
    roles: everyone,
    query: z.strictObject({
      course_id: ofCourses,
      learner_id: ofUsers,
      ...period('Last accessed'),
      updated_since: UpdatedSince,
      ...paging,
    }),
    response: ProgressPage,
    status: 200,
    list: true,
    filters: {
      course_id: { by: 'reference', field: 'courseId', to: 'courseId', several: true },
      learner_id: { by: 'reference', field: 'learnerId', to: 'userId', email: 'userEmail', several: true },
      ...inPeriod('lastAccessed'),
      updated_since: updatedSince,
    },
  }),
  steps: operation({
    id: 'progress.steps',
    method: 'GET',
    path: '/v1/progress/history',
    summary: 'List the progress history of all learners, oldest first within each enrolment',
    published: false,
    scope: 'read',
    roles: everyone,
    query: z.strictObject({
      course_id: ofCourses,
      learner_id: ofUsers,
      ...period('Recorded'),
      ...uncounted,
    }),
    response: ProgressStepPage,
    status: 200,
    list: true,
    filters: {
      course_id: { by: 'reference', field: 'courseId', to: 'courseId', several: true },
      learner_id: { by: 'reference', field: 'learnerId', to: 'userId', email: 'userEmail', several: true },
      ...inPeriod('recordedAt'),
    },
  }),
  list: operation({
    id: 'progress.list',
    method: 'GET',
    path: '/v1/learners/{learnerId}/progress',
    summary: 'List the progress of a learner',
    published: false,
    scope: 'read',
    roles: everyone,
    query: z.strictObject({
      course_id: ofCourse,
      ...period('Last accessed'),
      updated_since: UpdatedSince,
      ...paging,
    }),
    response: ProgressPage,
    status: 200,
    list: true,
    filters: {
      course_id: { by: 'reference', field: 'courseId', to: 'courseId' },
      ...inPeriod('lastAccessed'),
      updated_since: updatedSince,
    },
  }),
  set: operation({
    id: 'progress.set',
    method: 'PUT',
    path: '/v1/learners/{learnerId}/progress',
    summary: 'Record the progress of a learner in a course',
    lenient:
      'With handling=lenient, a lastAccessed that is older than the stored one, or in the future, is adjusted instead of refused',
    published: true,
    scope: 'write',
    roles: [...teachers, 'learner'],
    body: ProgressInput,
    response: Progress,
    status: 200,
  }),
  history: operation({
    id: 'progress.history',
    method: 'GET',
    path: '/v1/learners/{learnerId}/progress/history',
    summary: 'List the progress history of a learner in a course, newest first',
    published: false,
    scope: 'read',
    roles: everyone,
    query: z.strictObject({
      course_id: Reference.meta({ description: 'Course: id or ext:<externalId> (required)' }),
      ...period('Recorded'),
      ...paging,
    }),
    response: ProgressStepPage,
    status: 200,
    list: true,
    filters: {
      course_id: { by: 'reference', field: 'courseId', to: 'courseId' },
      ...inPeriod('recordedAt'),
    },
  }),
  batch: operation({
    id: 'progress.batch',
    method: 'POST',
    path: '/v1/progress/batch',
    summary: 'Record up to 1,000 progress updates',
    published: false,
    scope: 'write',
    roles: teachers,
    body: batchOf(ProgressItem, 'update', 'ProgressBatch'),
    response: BatchResult,
    status: 200,
    report: true,
  }),
}
