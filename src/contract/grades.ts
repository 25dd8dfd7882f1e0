import * as z from 'zod'
import { BatchResult, batchOf } from './batch.ts'
import {
  exactly,
  Instant,
  ofCourses,
  ofUsers,
  optional,
  Percent,
  Reference,
  Time,
  text,
  UpdatedSince,
} from './field.ts'
import { everyone, operation, teachers } from './operation.ts'
import { page, paging, sorting } from './page.ts'
import { isGradable, largestScore, mostOverMaximum } from './score.ts'
import { wholeCourse } from './whole-course.ts'

export { wholeCourse }

const score = z.number().min(0).max(largestScore)

/** A grade, always sent as a whole. Learner, course, source and item tell it from all others. */
export const GradeInput = z
  .strictObject({
    learnerId: Reference,
    courseId: Reference,
    itemId: text(1, 255).default(wholeCourse),
    source: text(1, 100).default('manual'),
    label: z.string().trim().max(255).default(''),
    scoreGiven: score.nullable(),
    scoreMaximum: score.positive().default(100),
    weight: optional(Percent),
    gradedAt: Instant.optional(),
    published: z.boolean().default(true),
  })
  .refine(({ scoreGiven, scoreMaximum }) => scoreGiven === null || isGradable(scoreGiven, scoreMaximum), {
    path: ['scoreGiven'],
    params: { code: 'out_of_range' },
    error: `must be at most ${mostOverMaximum} times the maximum`,
  })
export type GradeInput = z.output<typeof GradeInput>

export const Grade = z.object({
  id: z.string(),
  learnerId: z.string(),
  userEmail: z.string(),
  userExternalId: z.string().nullable(),
  courseId: z.string(),
  courseTitle: z.string(),
  courseExternalId: z.string().nullable(),
  itemId: z.string(),
  source: z.string(),
  label: z.string(),
  scoreGiven: z.number().nullable(),
  scoreMaximum: z.number(),
  percent: z.number().nullable(),
  weight: z.number().nullable(),
  gradedAt: Time,
  published: z.boolean(),
  deliveryId: z.string().nullable(),
  version: z.int(),
  createdAt: Time,
  updatedAt: Time,
})
export type Grade = z.output<typeof Grade>

/** One entry of the history of a grade. */
export const GradeStep = z.object({
  gradeId: z.string(),
  version: z.int(),
  scoreGiven: z.number().nullable(),
  scoreMaximum: z.number(),
  gradedAt: Time,
  published: z.boolean(),
  deliveryId: z.string().nullable(),
  recordedAt: Time,
  recordedBy: z.string(),
  recordedByEmail: z.string().nullable(),
})
export type GradeStep = z.output<typeof GradeStep>

/** The gradebook: the grades of learners in courses, item by item. */
export const grades = {
  list: operation({
    id: 'grades.list',
    method: 'GET',
    path: '/v1/grades',
    summary: 'List grades',
    published: false,
    scope: 'read',
    roles: everyone,
    query: z.strictObject({
      course_id: ofCourses,
      learner_id: ofUsers,
      item_id: exactly('item'),
      source: exactly('source'),
      updated_since: UpdatedSince,
      sort: sorting(['createdAt', 'updatedAt', 'gradedAt'], '-createdAt'),
      ...paging,
    }),
    response: page(Grade),
    status: 200,
    list: true,
    filters: {
      course_id: { by: 'reference', field: 'courseId', to: 'courseId', several: true },
      learner_id: { by: 'reference', field: 'learnerId', to: 'userId', email: 'userEmail', several: true },
      item_id: { by: 'equal', field: 'itemId' },
      source: { by: 'equal', field: 'source' },
      updated_since: { by: 'start', field: 'updatedAt' },
    },
  }),
  get: operation({
    id: 'grades.get',
    method: 'GET',
    path: '/v1/grades/{gradeId}',
    summary: 'Show a grade',
    published: false,
    scope: 'read',
    roles: everyone,
    response: Grade,
    status: 200,
  }),
  set: operation({
    id: 'grades.set',
    method: 'PUT',
    path: '/v1/grades',
    summary: 'Record a grade of a learner in a course',
    published: false,
    scope: 'write',
    roles: teachers,
    body: GradeInput,
    response: Grade,
    status: 200,
  }),
  delete: operation({
    id: 'grades.delete',
    method: 'DELETE',
    path: '/v1/grades/{gradeId}',
    summary: 'Delete a grade',
    published: false,
    scope: 'write',
    roles: teachers,
    response: null,
    status: 204,
  }),
  history: operation({
    id: 'grades.history',
    method: 'GET',
    path: '/v1/grades/{gradeId}/history',
    summary: 'List the history of a grade, newest first',
    published: false,
    scope: 'read',
    roles: everyone,
    query: z.strictObject({ ...paging }),
    response: page(GradeStep),
    status: 200,
    list: true,
  }),
  batch: operation({
    id: 'grades.batch',
    method: 'POST',
    path: '/v1/grades/batch',
    summary: 'Record up to 1,000 grades',
    published: false,
    scope: 'write',
    roles: teachers,
    body: batchOf(GradeInput, 'update'),
    response: BatchResult,
    status: 200,
    report: true,
  }),
}
