import * as z from 'zod'
import { isDay, isInstant } from '../codec/time-text.ts'
import { difficulties, xapiVersions } from './constants.ts'
import { Difficulty } from './course-parts.ts'
import { EnrollmentStatus, enrollmentStatuses } from './enrollments.ts'
import { field, named, objectOf, shown } from './fields.ts'
import {
  BooleanParam,
  choices,
  inGroups,
  isInGroups,
  isInTerms,
  ofCourses,
  ofTerms,
  ofUsers,
  page,
  pageFields,
  paging,
} from './lists.ts'
import { admins, operationsOf, staff } from './operation.ts'
import { ProgressStatus, progressStatuses } from './progress.ts'
import { actors, defaultHomePage, HomePage, Statement } from './statements.ts'
import { Percent, Reference, References, Time } from './values.ts'

/** The forms in which learners can be exported. */
export const analyticsFormats = ['json', 'csv', 'ndjson'] as const

const Bound = z.string().refine((text) => isDay(text) || isInstant(text), {
  params: { code: 'invalid_time' },
  error: 'must be a day (2026-01-31, UTC) or an RFC 3339 time with zone',
})

/**
 * A learner in a course. The order of these fields is that of the CSV columns; new fields are appended.
 */
export const learnerFields = {
  learnerId: field(z.string(), 'Id of the learner, usr_…'),
  email: field(z.string(), 'E-mail address of the learner'),
  firstName: field(z.string().nullable(), 'First name'),
  lastName: field(z.string().nullable(), 'Last name'),
  externalId: field(z.string().nullable(), 'Your own id for the learner'),
  courseId: field(Reference, 'Id of the course, crs_…'),
  courseTitle: field(z.string(), 'Title of the course'),
  difficulty: field(Difficulty, 'Level of the course'),
  enrollmentStatus: field(EnrollmentStatus, 'Status of the enrolment'),
  enrolledAt: field(Time, 'When the learner was enrolled'),
  progressStatus: field(ProgressStatus, 'Status of the progress; not_started without any'),
  completionPercentage: field(Percent, 'Percentage of the course that is completed, 0–100'),
  startedAt: field(Time.nullable(), 'When the learner first accessed the course; null before that'),
  lastAccessed: field(Time.nullable(), 'When the learner last accessed the course; null if never'),
  completedAt: field(
    Time.nullable(),
    'When the learner first reached the completion threshold; null before that',
  ),
  gradePercent: field(
    z.number().nullable(),
    'Grade of the learner in the course as a percentage, above 100 if scores exceed their maximum; null without a grade',
  ),
  passed: field(
    z.boolean().nullable(),
    'Whether the grade reaches the passing score of the course; null without a grade',
  ),
  gradeUpdatedAt: field(
    Time.nullable(),
    'When the newest of the grades that it comes from was graded; null without one',
  ),
  courseExternalId: field(z.string().nullable(), 'The school’s own id of the course; null without one'),
}
export const LearnerRow = named(
  'LearnerRow',
  'One learner in one course; the CSV has the same columns, in this order',
  shown(() => learnerFields),
)
export type LearnerRow = z.output<typeof LearnerRow>

const count = (says: string) => field(z.int(), says)
const rate = (says: string) => field(z.number().nullable(), says)

/** The figures of a report, and of each course in it. */
const figures = {
  enrollments: count('Number of enrolments, without removed ones unless enrollment_status asks for them'),
  notStarted: count('Enrolments without progress, or at 0%'),
  inProgress: count('Enrolments in progress'),
  completed: count('Enrolments with completed progress'),
  completionRate: rate('Completed ÷ enrolments, 0–1; null without enrolments'),
  averageCompletionPercentage: rate('Mean of the completion percentages; null without enrolments'),
}
const averageGradePercent = rate('Mean of the grades; null without grades')

const CourseFigures = shown(() => ({
  courseId: field(z.string(), 'Id of the course, crs_…'),
  courseTitle: field(z.string(), 'Title of the course'),
  ...figures,
  averageGradePercent,
}))

/**
 * Figures over the whole filtered set; averages of nothing are null. `learners` counts each learner once; null if the
 * filters leave too many enrolments in several courses to count distinct learners.
 */
export const Summary = named(
  'Summary',
  'Figures over all rows that match the filters, not only those of the page',
  shown(() => ({
    learners: field(z.int().nullable(), 'Number of learners'),
    ...figures,
    medianCompletionPercentage: rate('Median of the completion percentages; null without enrolments'),
    averageGradePercent,
    distribution: field(z.array(z.int()).length(10), 'Number of enrolments at 0–9%, 10–19% … 90–100%'),
    byCourse: field(z.array(CourseFigures), 'The same figures for each course'),
  })),
)
export type Summary = z.output<typeof Summary>

/** The period of a report, as it was parsed; an end that was not given is null. */
export const Period = named(
  'Period',
  'The period from start_date to end_date, as interpreted',
  shown(() => ({
    start: field(Time.nullable(), 'Start of the period, inclusive; null for no start'),
    end: field(Time.nullable(), 'End of the period, exclusive; null for no end'),
  })),
)
export type Period = z.output<typeof Period>

/** A page of rows; the first page also has the period and the summary. */
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

const { include_total: _, ...uncounted } = paging

export const Backfill = named(
  'Backfill',
  'What was queued for a learning record store',
  shown(() => ({
    queued: field(z.int(), 'Number of messages that were queued'),
    nextCursor: field(
      z.string().nullable(),
      'Send it as cursor to queue the next part; null if there is none',
    ),
  })),
)
export type Backfill = z.output<typeof Backfill>

/** A reference that statements do not show as it is. */
const hidden = { by: 'reference', several: true, hidden: true } as const

/** Analytics of learners and their progress. */
export const analytics = operationsOf('analytics', {
  learners: {
    at: 'GET /v1/analytics/learners',
    summary: 'Report the progress and grades of learners, one row per learner and course',
    published: true,
    roles: staff,
    query: z.strictObject({
      start_date: Bound.optional().meta({
        description: 'Last accessed on or after this day (UTC) or time',
      }),
      end_date: Bound.optional().meta({
        description: 'Last accessed on or before this day (UTC), or before this time',
      }),
      format: z
        .enum(analyticsFormats)
        .optional()
        .meta({ description: 'Format of the response (default by the Accept header, else json)' }),
      course_id: References.optional(),
      learner_id: References.optional(),
      group_id: inGroups,
      term_id: ofTerms,
      status: choices(progressStatuses).optional(),
      difficulty: choices(difficulties).optional(),
      enrollment_status: choices(enrollmentStatuses).optional().meta({
        description:
          'Comma-separated list of active, inactive, completed, deleted (default all but deleted: removed enrolments)',
      }),
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
    filters: {
      start_date: { by: 'start', field: 'lastAccessed', unlessSet: 'include_not_started' },
      end_date: { by: 'end', field: 'lastAccessed', unlessSet: 'include_not_started' },
      course_id: { by: 'reference', field: 'courseId', to: 'courseId', several: true },
      learner_id: {
        by: 'reference',
        field: 'learnerId',
        to: 'userId',
        ext: 'externalId',
        email: 'email',
        several: true,
      },
      group_id: isInGroups,
      term_id: isInTerms,
      status: { by: 'choice', field: 'progressStatus', choices: progressStatuses },
      difficulty: { by: 'choice', field: 'difficulty', choices: difficulties },
      enrollment_status: { by: 'choice', field: 'enrollmentStatus', choices: enrollmentStatuses },
    },
    media: ['text/csv', 'application/x-ndjson'],
  },
  statements: {
    at: 'GET /v1/analytics/statements',
    summary: 'List progress, completion and grades of learners as xAPI statements',
    roles: staff,
    query: z.strictObject({
      start_date: Bound.optional().meta({ description: 'Happened on or after this day (UTC) or time' }),
      end_date: Bound.optional().meta({
        description: 'Happened on or before this day (UTC), or before this time',
      }),
      course_id: ofCourses,
      learner_id: ofUsers,
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
    response: page(Statement, 'xAPI statements'),
    list: true,
    filters: {
      start_date: { by: 'start', field: 'timestamp' },
      end_date: { by: 'end', field: 'timestamp' },
      course_id: { ...hidden, field: 'courseId', to: 'courseId' },
      learner_id: { ...hidden, field: 'learnerId', to: 'userId' },
      group_id: isInGroups,
    },
  },
  backfill: {
    at: 'POST /v1/analytics/statements/backfill',
    summary: 'Send what learners have reached to a learning record store',
    scope: 'admin',
    roles: admins,
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
