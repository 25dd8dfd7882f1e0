import * as z from 'zod'
import { difficulties, xapiVersions } from './constants.ts'
import { DataChangePage, DataRow, dataTableNames } from './data-tables.ts'
import { enrollmentStatuses } from './enrollments.ts'
import { field, named, objectOf, shown } from './fields.ts'
import { Bound, LearnerRow, learnerFields } from './learner-row.ts'
import {
  BooleanParam,
  choiceOf,
  choices,
  filtering,
  inGroups,
  isInCourse,
  isLearner,
  listOf,
  ofCourses,
  ofTerms,
  ofUsers,
  pageFields,
  paging,
} from './lists.ts'
import { analysts, operationsOf, staff } from './operation.ts'
import { progressStatuses } from './progress.ts'
import { Activity, ItemGrades, questions } from './questions.ts'
import { textOrNull, timeOrNull } from './record-fields.ts'
import { actors, defaultHomePage, HomePage, Statement } from './statements.ts'
import { References, Time, Timezone } from './values.ts'

export const analyticsFormats = ['json', 'csv', 'ndjson'] as const

const count = (says: string) => field(z.int(), says)
const rate = (says: string) => field(z.number().nullable(), says)

/** The figures of a report, and of each course in it. */
const figures = {
  enrollments: count('Number of enrolments, without removed ones unless enrollment_status asks for them'),
  notStarted: count('Enrolments without progress'),
  inProgress: count('Enrolments in progress'),
  completed: count('Enrolments with completed progress'),
  completionRate: field(
    z.number().nullable().meta({ deprecated: true }),
    'Completed ÷ enrolments, 0–1; null without enrolments. Deprecated: use completionPercentage',
  ),
  averageCompletionPercentage: rate('Mean of the completion percentages; null without enrolments'),
}

/** The figures that were added later: they follow the others. */
const gradeFigures = {
  averageGradePercent: rate('Mean of the grades; null without grades'),
  completionPercentage: rate('Completed ÷ enrolments, 0–100; null without enrolments'),
  graded: count('Enrolments with a grade'),
  passed: count('Enrolments whose grade reaches the passing score of the course'),
  passRate: rate('Passed ÷ graded, 0–100; null without grades'),
}

const Bucket = named(
  'PercentageBucket',
  'Number of enrolments in a range of percentages',
  shown(() => ({
    from: field(z.number(), 'Start of the range, inclusive; above 100 where the range has no end'),
    to: field(
      z.number().nullable(),
      'End of the range, exclusive, except 100, which is in the range that ends there; null for no end',
    ),
    count: count('Number of enrolments'),
  })),
)
export type Bucket = z.output<typeof Bucket>

const CourseFigures = shown(() => ({
  courseId: field(z.string(), 'Id of the course, crs_…'),
  courseTitle: field(z.string(), 'Title of the course'),
  ...figures,
  ...gradeFigures,
}))

/** Averages of nothing are null; `learners` is null if too many enrolments make distinct learners costly to count. */
export const Summary = named(
  'Summary',
  'Figures over all rows that match the filters, not only those of the page',
  shown(() => ({
    learners: field(z.int().nullable(), 'Number of learners'),
    ...figures,
    medianCompletionPercentage: rate('Median of the completion percentages; null without enrolments'),
    ...gradeFigures,
    medianGradePercent: rate('Median of the grades; null without grades'),
    distribution: field(z.array(z.int()).length(10), 'Number of enrolments at 0–9%, 10–19% … 90–100%'),
    completionDistribution: field(
      z.array(Bucket).length(10),
      'Enrolments by percentage completed, in tens: the same numbers as distribution, with their bounds',
    ),
    gradeDistribution: field(
      z.array(Bucket).length(11),
      'Graded enrolments by grade, in tens; the last range is above 100',
    ),
    byCourse: field(z.array(CourseFigures), 'The same figures for each course'),
  })),
)
export type Summary = z.output<typeof Summary>

/** An end that was not given is null. */
export const Period = named(
  'Period',
  'The period from start_date to end_date, as interpreted',
  shown(() => ({
    start: timeOrNull('Start of the period, inclusive; null for no start'),
    end: timeOrNull('End of the period, exclusive; null for no end'),
  })),
)
export type Period = z.output<typeof Period>

/** The first page also has the period and the summary. */
export const LearnerPage = named(
  'LearnerPage',
  'One page of learners in courses',
  objectOf({
    ...pageFields(LearnerRow),
    period: field(Period.optional(), 'The period that the report is about; on the first page'),
    summary: field(Summary.optional(), 'Figures over the whole report; on the first page'),
  }),
)
export type LearnerPage = z.output<typeof LearnerPage>

const CourseAttention = shown(() => ({
  courseId: field(z.string(), 'Id of the course, crs_…'),
  courseTitle: field(z.string(), 'Title of the course'),
  courseExternalId: learnerFields.courseExternalId,
  inactive: count('Learners without access for 14 days who have not completed the course'),
  stuck: count('Learners in progress below 50% without progress for 14 days'),
  notPassed: count('Learners whose grade is below the passing score'),
}))

/** The figures behind `learnctl report`: without learners, only counts of them. */
export const Report = named(
  'Report',
  'Figures of courses for a report, with counts of learners and no names',
  shown(() => ({
    generatedAt: field(Time, 'When the figures were read'),
    start: field(Time, 'Start of the period of the activity, inclusive'),
    end: field(Time, 'End of the period of the activity, exclusive'),
    summary: field(Summary, 'Completion and grades of all current enrolments, whatever the period'),
    attention: field(z.array(CourseAttention), 'Learners who may need help now, by published course'),
    activity: field(Activity, 'Activity in the period, by day, week or month'),
    activityBefore: field(Activity, 'Activity in the period before, of the same length'),
    items: field(z.array(ItemGrades), 'Graded items, lowest pass rate first'),
    moreItems: count('Number of graded items that are not among `items`'),
  })),
)
export type Report = z.output<typeof Report>

const { include_total: _, ...uncounted } = paging
const after = z.string().max(2048).optional().meta({
  description: 'until of an earlier answer (default now: nothing has changed)',
})
const maxRows = 1000
const rowPaging = {
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(maxRows)
    .default(maxRows)
    .meta({ description: `Maximum rows per page, 1–${maxRows} (default ${maxRows})` }),
  cursor: paging.cursor,
}

export const Backfill = named(
  'Backfill',
  'What was queued for a learning record store',
  shown(() => ({
    queued: field(z.int(), 'Number of messages that were queued'),
    nextCursor: textOrNull('Send it as cursor to queue the next part; null if there is none'),
  })),
)
export type Backfill = z.output<typeof Backfill>

/** Statements do not show this reference as it is. */
const hidden = { by: 'reference', several: true, hidden: true } as const

export const analytics = operationsOf('analytics', {
  learners: {
    at: 'GET /v1/analytics/learners',
    summary: 'Report the progress and grades of learners, one row per learner and course',
    published: true,
    roles: staff,
    query: z.strictObject({
      start_date: filtering(
        Bound.optional().meta({ description: 'Last accessed on or after this day (UTC) or time' }),
        { by: 'start', field: 'lastAccessed', unlessSet: 'include_not_started' },
      ),
      end_date: filtering(
        Bound.optional().meta({
          description: 'Last accessed on or before this day (UTC), or before this time',
        }),
        { by: 'end', field: 'lastAccessed', unlessSet: 'include_not_started' },
      ),
      format: z
        .enum(analyticsFormats)
        .optional()
        .meta({ description: 'Format of the response (default by the Accept header, else json)' }),
      course_id: filtering(References.optional(), isInCourse),
      learner_id: filtering(References.optional(), isLearner),
      group_id: inGroups,
      term_id: ofTerms,
      status: choiceOf('progressStatus', progressStatuses),
      difficulty: choiceOf('difficulty', difficulties),
      enrollment_status: filtering(
        choices(enrollmentStatuses).optional().meta({
          description:
            'Comma-separated list of active, inactive, completed, deleted (default all but deleted: removed enrolments)',
        }),
        { by: 'choice', field: 'enrollmentStatus', choices: enrollmentStatuses },
      ),
      include_not_started: BooleanParam.default(false).meta({
        description: 'With dates, include learners who have not started (default false)',
      }),
      include_deleted: BooleanParam.default(false).meta({
        description: 'Include deleted users (default false)',
      }),
      summary: BooleanParam.default(true).meta({
        description: 'Include the period and the summary on the first page of JSON (default true)',
      }),
      bom: BooleanParam.default(false).meta({
        description: 'Add a byte order mark to CSV, for Excel (default false)',
      }),
      raw: BooleanParam.default(false).meta({
        description: 'Do not escape CSV text that a spreadsheet would run as a formula (default false)',
      }),
      ...paging,
    }),
    response: LearnerPage,
    list: true,
    media: ['text/csv', 'application/x-ndjson'],
  },
  ...questions,
  rows: {
    at: 'GET /v1/analytics/rows',
    summary: 'List all rows of a table of the academy, for a data set',
    roles: analysts,
    query: z.strictObject({
      table: z.enum(dataTableNames).meta({
        description: `Table: ${dataTableNames.join(', ')} (required)`,
      }),
      ...rowPaging,
    }),
    ...listOf(DataRow, 'rows of a data set'),
  },
  changes: {
    at: 'GET /v1/analytics/changes',
    summary: 'List rows that were added, changed or removed since an earlier answer',
    roles: analysts,
    query: z.strictObject({
      after,
      table: choices(dataTableNames).optional(),
      ...rowPaging,
    }),
    response: DataChangePage,
    list: true,
  },
  report: {
    at: 'GET /v1/analytics/report',
    summary: 'Report completion, activity, grades and learners at risk of courses in one response',
    roles: staff,
    query: z.strictObject({
      start_date: Bound.optional().meta({
        description: 'First day, or time, of the activity (default 12 weeks)',
      }),
      end_date: Bound.optional().meta({
        description: 'Last day of the activity, or the time that it ends before (default now)',
      }),
      time_zone: Timezone.default('UTC').meta({
        description: 'Time zone of days, weeks and months (default UTC)',
      }),
      course_id: ofCourses,
      term_id: ofTerms,
    }),
    response: Report,
    report: true,
  },
  statements: {
    at: 'GET /v1/analytics/statements',
    summary: 'List progress, completion and grades of learners as xAPI statements',
    roles: staff,
    query: z.strictObject({
      start_date: filtering(
        Bound.optional().meta({ description: 'Happened on or after this day (UTC) or time' }),
        { by: 'start', field: 'timestamp' },
      ),
      end_date: filtering(
        Bound.optional().meta({ description: 'Happened on or before this day (UTC), or before this time' }),
        { by: 'end', field: 'timestamp' },
      ),
      course_id: filtering(ofCourses, { ...hidden, field: 'courseId', to: 'courseId' }),
      learner_id: filtering(ofUsers, { ...hidden, field: 'learnerId', to: 'userId' }),
      group_id: inGroups,
      xapi_version: z
        .enum(xapiVersions)
        .default('1.0.3')
        .meta({ description: 'Version of xAPI (default 1.0.3)' }),
      actor: z.enum(actors).default('id').meta({
        description:
          'How learners are named: id, which reveals least, external-id (else id) or email (default id)',
      }),
      home_page: HomePage.default(defaultHomePage).meta({
        description: `URL of the academy, which accounts, activities and ids begin with (default ${defaultHomePage})`,
      }),
      ...uncounted,
    }),
    ...listOf(Statement, 'xAPI statements'),
  },
  backfill: {
    at: 'POST /v1/analytics/statements/backfill',
    summary: 'Send what learners have reached to a learning record store',
    scope: 'admin',
    query: z.strictObject({
      endpoint_id: z
        .string()
        .min(1)
        .max(255)
        .meta({ description: 'Endpoint of kind xapi: its id (required)' }),
      start_date: Bound.optional().meta({ description: 'Happened on or after this day (UTC) or time' }),
      end_date: Bound.optional().meta({
        description: 'Happened on or before this day (UTC), or before this time',
      }),
      course_id: ofCourses,
      cursor: paging.cursor,
    }),
    response: Backfill,
    status: 200,
    report: true,
  },
})
