import * as z from 'zod'
import { isDay, isInstant } from '../codec/time-text.ts'
import { Difficulty } from './course.ts'
import { difficulties } from './course-choices.ts'
import { EnrollmentStatus, enrollmentStatuses } from './enrollments.ts'
import { BooleanParam, choices, References, Time } from './field.ts'
import { operation, staff } from './operation.ts'
import { paging } from './page.ts'
import { ProgressStatus, progressStatuses } from './progress.ts'

/** The forms in which learners can be exported. */
export const analyticsFormats = ['json', 'csv', 'ndjson'] as const

const Bound = z.string().refine((text) => isDay(text) || isInstant(text), {
  params: { code: 'invalid_time' },
  error: 'must be a day (2026-01-31, UTC) or an RFC 3339 time with zone',
})

/**
 * One learner in one course. The order of these fields is the order of the CSV columns; new ones come at the end
 * only.
 */
export const LearnerRow = z.object({
  learnerId: z.string(),
  email: z.string(),
  firstName: z.string().nullable(),
  lastName: z.string().nullable(),
  externalId: z.string().nullable(),
  courseId: z.string(),
  courseTitle: z.string(),
  difficulty: Difficulty,
  enrollmentStatus: EnrollmentStatus,
  enrolledAt: Time,
  progressStatus: ProgressStatus,
  completionPercentage: z.number(),
  startedAt: Time.nullable(),
  lastAccessed: Time.nullable(),
  completedAt: Time.nullable(),
  gradePercent: z.number().nullable(),
  passed: z.boolean().nullable(),
  gradeUpdatedAt: Time.nullable(),
  courseExternalId: z.string().nullable(),
})
export type LearnerRow = z.output<typeof LearnerRow>

const rate = z.number().nullable()

/**
 * Figures over the whole filtered set; averages of nothing are null. `learners` are counted once each; null where the
 * filters leave too many enrolments in several courses to tell their learners apart.
 */
export const Summary = z.object({
  learners: z.int().nullable(),
  enrollments: z.int(),
  notStarted: z.int(),
  inProgress: z.int(),
  completed: z.int(),
  completionRate: rate,
  averageCompletionPercentage: rate,
  medianCompletionPercentage: rate,
  averageGradePercent: rate,
  distribution: z.array(z.int()).length(10),
  byCourse: z.array(
    z.object({
      courseId: z.string(),
      courseTitle: z.string(),
      enrollments: z.int(),
      notStarted: z.int(),
      inProgress: z.int(),
      completed: z.int(),
      completionRate: rate,
      averageCompletionPercentage: rate,
      averageGradePercent: rate,
    }),
  ),
})
export type Summary = z.output<typeof Summary>

/** The period that was asked for, each end as it was read; a missing side is null. */
export const Period = z.object({
  start: Time.nullable(),
  end: Time.nullable(),
})
export type Period = z.output<typeof Period>

/** A page of rows; the first one carries the period and the summary as well. */
export const LearnerPage = z.object({
  data: z.array(LearnerRow),
  nextCursor: z.string().nullable(),
  total: z.int().optional(),
  totalIsExact: z.boolean().optional(),
  period: Period.optional(),
  summary: Summary.optional(),
})
export type LearnerPage = z.output<typeof LearnerPage>

/** Learners and how far they are, for those who look at numbers. */
export const analytics = {
  learners: operation({
    id: 'analytics.learners',
    method: 'GET',
    path: '/v1/analytics/learners',
    summary: 'Report the progress and grades of learners, one row per learner and course',
    published: true,
    scope: 'read',
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
    status: 200,
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
      status: { by: 'choice', field: 'progressStatus', choices: progressStatuses },
      difficulty: { by: 'choice', field: 'difficulty', choices: difficulties },
      enrollment_status: { by: 'choice', field: 'enrollmentStatus', choices: enrollmentStatuses },
    },
    media: ['text/csv', 'application/x-ndjson'],
  }),
}
