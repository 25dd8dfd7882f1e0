import * as z from 'zod'
import { BatchResult, batchOf } from './batch.ts'
import {
  exactly,
  Instant,
  ofCourses,
  ofUsers,
  Percent,
  period,
  Reference,
  Time,
  text,
  UpdatedSince,
} from './field.ts'
import { inPeriod, updatedSince } from './filter.ts'
import { everyone, operation, teachers } from './operation.ts'
import { page, paging, sorting } from './page.ts'
import { aboveMaximum, isGradable, largestScore, notGradable } from './score.ts'
import { wholeCourse } from './whole-course.ts'

export { wholeCourse }

const score = z.number().min(0).max(largestScore)

/** Source of grades that come from no other system. */
export const defaultSource = 'manual'

/**
 * A grade; learner, course, source and item identify it. An absent field keeps the value of the stored grade, else has the
 * default, label and weight those of the item's other grades; null is the default.
 */
export const GradeInput = z
  .strictObject({
    learnerId: Reference,
    courseId: Reference,
    itemId: text(1, 255).default(wholeCourse),
    source: text(1, 100).nullish(),
    label: z.string().trim().max(255).nullish(),
    scoreGiven: score.nullable(),
    scoreMaximum: score.positive().nullish(),
    weight: Percent.nullish(),
    gradedAt: Instant.optional(),
    published: z.boolean().nullish(),
    extraCredit: z.boolean().optional(),
  })
  .superRefine(({ scoreGiven, scoreMaximum, extraCredit }, context) => {
    if (extraCredit !== false || typeof scoreMaximum !== 'number' || scoreGiven === null) return
    if (scoreGiven <= scoreMaximum) return
    const [path, params] = [['scoreGiven'], { code: 'above_maximum' }]
    context.addIssue({ code: 'custom', path, params, message: aboveMaximum(scoreMaximum) })
  })
  .refine(
    ({ scoreGiven, scoreMaximum }) =>
      scoreGiven === null || isGradable(scoreGiven, scoreMaximum ?? largestScore),
    {
      path: ['scoreGiven'],
      params: { code: 'out_of_range' },
      error: notGradable,
    },
  )
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

/** A grade as it was recorded, with what may not be as intended. */
export const RecordedGrade = Grade.extend({
  warnings: z
    .array(z.object({ code: z.enum(['unweighted']), detail: z.string() }))
    .max(1)
    .optional(),
})
export type RecordedGrade = z.output<typeof RecordedGrade>

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
      ...period('Graded'),
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
      ...inPeriod('gradedAt'),
      updated_since: updatedSince,
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
    response: RecordedGrade,
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
    query: z.strictObject({ ...period('Recorded'), ...paging }),
    response: page(GradeStep),
    status: 200,
    list: true,
    filters: inPeriod('recordedAt'),
  }),
  batch: operation({
    id: 'grades.batch',
    method: 'POST',
    path: '/v1/grades/batch',
    summary: 'Record up to 1,000 grades',
    published: false,
    scope: 'write',
    roles: teachers,
    body: batchOf(GradeInput, 'update', 'GradeBatch'),
    response: BatchResult,
    status: 200,
    report: true,
  }),
}
