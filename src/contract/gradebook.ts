import * as z from 'zod'
import { maxGradebookItems } from './constants.ts'
import { field, named, objectOf, shown } from './fields.ts'
import { learnerFields } from './learner-row.ts'
import { BooleanParam, inGroups, ofLearners, pageFields, paging } from './lists.ts'
import { staff } from './operation.ts'
import { Percent } from './values.ts'

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
    learnerId: learnerFields.learnerId,
    email: learnerFields.email,
    firstName: learnerFields.firstName,
    lastName: learnerFields.lastName,
    externalId: learnerFields.externalId,
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

/** One row per learner. */
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
