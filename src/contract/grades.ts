import * as z from 'zod'
import { batchOf } from './batch.ts'
import {
  aboveMaximumText,
  isGradable,
  maxGradebookItems,
  maxScore,
  notGradableText,
  wholeCourse,
} from './constants.ts'
import { answered, field, named, objectOf, sent, shown } from './fields.ts'
import { learnerFields, learnerNames } from './learner-row.ts'
import {
  BooleanParam,
  exactly,
  inGroups,
  listOf,
  ofCourses,
  ofEnrolledLearners,
  ofLearners,
  pageFields,
  paging,
  period,
  periodAndUpdates,
  sorting,
} from './lists.ts'
import { everyone, operationsOf, staff, teachers } from './operation.ts'
import { changed, textOrNull } from './record-fields.ts'
import { Instant, Percent, Reference, Time, text } from './values.ts'

const itemId = field(z.string(), 'Id of the item; $course is the course as a whole')

const GradebookItem = named(
  'GradebookItem',
  'An item that learners of a course have grades for',
  shown(() => ({
    itemId,
    label: field(z.string(), 'Name of the item, from its newest grade'),
    scoreMaximum: field(z.number(), 'Score that counts as 100%, from its newest grade'),
    weight: field(Percent.nullable(), 'Weight of the item, from its newest grade; null without one'),
  })),
)
export type GradebookItem = z.output<typeof GradebookItem>

const GradebookGrade = named(
  'GradebookGrade',
  'The grade of a learner for an item; the newest one if several sources have one',
  shown(() => ({
    itemId,
    source: field(z.string(), 'Where the grade comes from'),
    scoreGiven: field(z.number(), 'Score of the learner'),
    scoreMaximum: field(z.number(), 'Score that counts as 100%'),
    percent: field(z.number(), 'Score as a percentage of the maximum, above 100 if it exceeds the maximum'),
    published: field(z.boolean(), 'Whether the learner sees the grade and it counts'),
  })),
)
export type GradebookGrade = z.output<typeof GradebookGrade>

export const GradebookRow = named(
  'GradebookRow',
  'The grades of a learner in a course',
  shown(() => ({
    ...learnerNames,
    enrollmentStatus: learnerFields.enrollmentStatus,
    gradePercent: field(
      z.number().nullable(),
      'Grade of the learner in the course as a percentage; null without a grade',
    ),
    passed: learnerFields.passed,
    grades: field(
      z.array(GradebookGrade),
      'The grades by item, in no order; an item without a score is missing',
    ),
  })),
)
export type GradebookRow = z.output<typeof GradebookRow>

/** The first page also has the items. */
const GradebookPage = named(
  'GradebookPage',
  'One page of the learners of a course with their grades',
  objectOf({
    ...pageFields(GradebookRow),
    items: field(
      z.array(GradebookItem).max(maxGradebookItems).optional(),
      'The items of the course, ordered by name; on the first page',
    ),
    hasMoreItems: field(
      z.boolean().optional(),
      'Whether the course has more items than a report: those with the first ids are in it; on the first page',
    ),
  }),
)
export type GradebookPage = z.output<typeof GradebookPage>

/** Reports the grades of a course, one row per learner. */
export const report = {
  at: 'GET /v1/gradebooks/{courseId}',
  summary: 'Report the grades of a course, one row per learner',
  roles: staff,
  query: z.strictObject({
    learner_id: ofLearners,
    group_id: inGroups,
    include_unpublished: BooleanParam.default(false).meta({
      description: 'Include grades that learners do not see and that do not count (default false)',
    }),
    ...paging,
  }),
  response: GradebookPage,
  list: true,
} as const

const score = z.number().min(0).max(maxScore)

/** For grades that come from no other system. */
export const defaultSource = 'manual'

const attributes = {
  learnerId: field(Reference, 'Learner: id, ext:<externalId> or email:<address>; responses have the id'),
  courseId: field(
    Reference,
    'Course: id or ext:<externalId>; responses have the id',
    'Course: id or external id',
  ),
  itemId: field(
    text(1, 255).default(wholeCourse),
    'What was graded, such as an exam; $course is the course as a whole, whose grade replaces the mean of the items',
    'What was graded, such as exam-1; $course is the course as a whole',
  ),
  source: field(
    text(1, 100).nullish(),
    'Where the grade comes from: manual, or a system that sends grades (default the source of the stored grade of this item, else manual; required if several sources have one)',
    'Where the grade comes from',
  ),
  label: field(z.string().trim().max(255).nullish(), 'Name of the item (default empty)', 'Name of the item'),
  scoreGiven: field(
    score.nullable(),
    'Score of the learner, which may be up to 100 times the maximum; null clears the grade, so that it counts no longer and an older one does not return',
    'Score of the learner, or none to clear the grade',
  ),
  scoreMaximum: field(
    score.positive().nullish(),
    'Score that counts as 100% (default that of the item’s other grades, else 100)',
    'Score that counts as 100%',
  ),
  weight: field(
    Percent.nullish(),
    'Weight of the item in the grade of the course; null for the weight that the assessment criteria give to its id or name, or equal weights',
    'Weight of the item in the grade of the course',
  ),
  gradedAt: field(
    Instant.optional(),
    'When it was graded (default now)',
    'Day or time of grading, or how long ago',
  ),
  published: field(
    z.boolean().nullish(),
    'Whether the learner sees the grade and it counts (default true)',
    'Show the grade to the learner, and count it',
  ),
  extraCredit: field(
    z.boolean().optional(),
    'Whether the score may exceed the maximum; false refuses such a score with above_maximum (default true). Not stored',
    'Accept a score above the maximum',
  ),
}

/**
 * A grade; learner, course, source and item identify it. An absent field keeps the value of the stored grade, else has the
 * default, label, maximum and weight those of the item's other grades; null is the default.
 */
export const GradeInput = named(
  'GradeInput',
  'A grade. Learner, course, source and item identify it. An absent label, maximum, weight or publication stays as it is; for a first grade, label, maximum and weight are those of the item’s other grades, if there are any. null sets the default',
  sent(attributes, (object) =>
    object
      .superRefine(({ scoreGiven, scoreMaximum, extraCredit }, context) => {
        if (extraCredit !== false || typeof scoreMaximum !== 'number' || scoreGiven === null) return
        if (scoreGiven <= scoreMaximum) return
        const [path, params] = [['scoreGiven'], { code: 'above_maximum' }]
        context.addIssue({ code: 'custom', path, params, message: aboveMaximumText(scoreMaximum) })
      })
      .refine(
        ({ scoreGiven, scoreMaximum }) =>
          scoreGiven === null || isGradable(scoreGiven, scoreMaximum ?? maxScore),
        {
          path: ['scoreGiven'],
          params: { code: 'out_of_range' },
          error: notGradableText,
        },
      ),
  ),
)
export type GradeInput = z.output<typeof GradeInput>

const id = field(z.string(), 'Id of the grade, grd_…')

/** A stored grade has a value for each attribute. */
function shownFields() {
  const { learnerId, courseId, itemId, scoreGiven, weight } = answered(attributes)
  return {
    id,
    learnerId,
    userEmail: field(z.string(), 'E-mail address of the learner as it is now'),
    userExternalId: textOrNull('The school’s own id of the learner, as it is now'),
    courseId,
    courseTitle: field(z.string(), 'Title of the course as it is now'),
    courseExternalId: textOrNull('The school’s own id of the course, as it is now'),
    itemId,
    source: field(text(1, 100), 'Where the grade comes from: manual, or a system that sends grades'),
    label: field(z.string().trim().max(255), 'Name of the item'),
    scoreGiven,
    scoreMaximum: field(score.positive(), 'Score that counts as 100%'),
    percent: field(
      z.number().nullable(),
      'Score as a percentage of the maximum, above 100 if it exceeds the maximum; null without a score',
    ),
    weight,
    gradedAt: field(Time, 'When it was graded'),
    published: field(z.boolean(), 'Whether the learner sees the grade and it counts'),
    deliveryId: textOrNull('Id of the webhook delivery that it came with, whd_…; null for any other grade'),
    ...changed,
  }
}

export const Grade = named('Grade', 'A grade of a learner in a course', shown(shownFields))
export type Grade = z.output<typeof Grade>

const Warning = shown(() => ({
  code: field(
    z.enum(['unweighted', 'several_maxima']),
    'unweighted: the item has no weight, while other items of the learner have one; several_maxima: none was given, and those of the item’s other grades differ',
  ),
  detail: field(z.string(), 'The warning, as a sentence'),
}))

export const RecordedGrade = named(
  'RecordedGrade',
  'A grade as it was recorded',
  shown(() => ({
    ...shownFields(),
    warnings: field(
      z.array(Warning).max(2).optional(),
      'What may not be as intended; absent if there is nothing',
    ),
  })),
)
export type RecordedGrade = z.output<typeof RecordedGrade>

export const GradeStep = named(
  'GradeStep',
  'One entry of the history of a grade',
  shown(() => {
    const { scoreGiven, scoreMaximum, published, gradedAt, deliveryId } = shownFields()
    return {
      gradeId: field(z.string(), 'Id of the grade'),
      version: field(z.int(), 'Version of the grade that this entry made'),
      scoreGiven,
      scoreMaximum,
      gradedAt,
      published,
      deliveryId: {
        ...deliveryId,
        says: 'Id of the webhook delivery that it came with, whd_…; null for any other entry',
      },
      recordedAt: field(Time, 'When the entry was recorded'),
      recordedBy: field(
        z.string(),
        'Id of the user whose credential recorded it; webhook:<kind> where a webhook delivery did',
      ),
      recordedByEmail: textOrNull(
        'E-mail address of that user as it is now; null where a webhook delivery did',
      ),
    }
  }),
)
export type GradeStep = z.output<typeof GradeStep>

export const grades = operationsOf('grades', {
  list: {
    at: 'GET /v1/grades',
    summary: 'List grades',
    roles: everyone,
    query: z.strictObject({
      course_id: ofCourses,
      learner_id: ofEnrolledLearners,
      group_id: inGroups,
      item_id: exactly('item', 'itemId'),
      source: exactly('source', 'source'),
      ...periodAndUpdates('Graded', 'gradedAt'),
      sort: sorting(['createdAt', 'updatedAt', 'gradedAt'], '-createdAt'),
      ...paging,
    }),
    ...listOf(Grade, 'grades'),
  },
  get: {
    at: 'GET /v1/grades/{gradeId}',
    summary: 'Show a grade',
    roles: everyone,
    response: Grade,
  },
  set: {
    at: 'PUT /v1/grades',
    summary: 'Record a grade of a learner in a course',
    roles: teachers,
    body: GradeInput,
    response: RecordedGrade,
  },
  delete: {
    at: 'DELETE /v1/grades/{gradeId}',
    summary: 'Delete a grade',
    roles: teachers,
    response: null,
  },
  history: {
    at: 'GET /v1/grades/{gradeId}/history',
    summary: 'List the history of a grade, newest first',
    roles: everyone,
    query: z.strictObject({ ...period('Recorded', 'recordedAt'), ...paging }),
    ...listOf(GradeStep, 'the history of a grade'),
  },
  batch: {
    at: 'POST /v1/grades/batch',
    summary: 'Record up to 1,000 grades',
    roles: teachers,
    ...batchOf(GradeInput, 'update', 'GradeBatch'),
  },
  report,
})
