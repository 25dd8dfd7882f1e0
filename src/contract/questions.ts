import * as z from 'zod'
import {
  activityUnits,
  attentionDays,
  attentionKinds,
  gradeGroupings,
  maxActivityPeriods,
  stuckBelow,
} from './constants.ts'
import { field, named, shown } from './fields.ts'
import { Bound, learnerFields, learnerNames } from './learner-row.ts'
import {
  choices,
  filtering,
  inGroups,
  listOf,
  ofCourses,
  ofLearners,
  ofTerms,
  ofUsers,
  paging,
} from './lists.ts'
import { staff } from './operation.ts'
import { textOrNull, timeOrNull } from './record-fields.ts'
import { Percent, Time, Timezone } from './values.ts'

const { include_total: _, ...uncounted } = paging

const courseFields = {
  courseId: learnerFields.courseId,
  courseTitle: learnerFields.courseTitle,
  courseExternalId: learnerFields.courseExternalId,
}

export const AtRiskRow = named(
  'AtRiskRow',
  'A learner in a course who may need help, and why',
  shown(() => ({
    ...learnerNames,
    ...courseFields,
    reasons: field(z.array(z.enum(attentionKinds)), 'Why: inactive, stuck, not_passed, or several of them'),
    lastAccessed: learnerFields.lastAccessed,
    completionPercentage: learnerFields.completionPercentage,
    progressedAt: timeOrNull(
      'When the completion percentage last rose; null without progress, or if unknown',
    ),
    gradePercent: learnerFields.gradePercent,
    passingScore: field(Percent, 'Passing score of the course, 0–100'),
    enrolledAt: learnerFields.enrolledAt,
  })),
)
export type AtRiskRow = z.output<typeof AtRiskRow>

const count = (says: string) => field(z.int(), says)

export const ActivityPeriod = named(
  'ActivityPeriod',
  'What learners did in a day, a week or a month',
  shown(() => ({
    period: field(
      z.string(),
      'Name of the period in the time zone: a day such as 2026-03-29, an ISO week such as 2026-W13, or a month such as 2026-03',
    ),
    start: field(Time, 'Start of the period, inclusive'),
    end: field(Time, 'End of the period, exclusive'),
    activeLearners: count('Learners with progress in the period, each counted once'),
    progressUpdates: count('Records of progress, by when the learner accessed the course'),
    completions: count('Courses completed, each by when a learner first reached its completion threshold'),
    grades: count(
      'Published scores, by when they were graded; a correction that keeps this time is not counted again',
    ),
  })),
)
export type ActivityPeriod = z.output<typeof ActivityPeriod>

export const Activity = named(
  'Activity',
  'What learners did, period by period',
  shown(() => ({
    by: field(z.enum(activityUnits), 'Length of the periods'),
    timeZone: field(z.string(), 'Time zone in which the periods begin and end'),
    data: field(z.array(ActivityPeriod), 'The periods in order, including those without activity'),
  })),
)
export type Activity = z.output<typeof Activity>

const percent = (says: string) => field(z.number(), `${says}, in per cent`)

export const ItemGrades = named(
  'ItemGrades',
  'The grades of one item of a course',
  shown(() => ({
    ...courseFields,
    itemId: field(z.string(), 'Item that was graded; $course is the course as a whole'),
    itemTitle: field(z.string(), 'Name of the item, from its newest grade; the item id without a name'),
    lessonId: textOrNull(
      'Lesson of the course whose id or external id is the item id; null if there is none',
    ),
    count: count('Number of published grades with a score'),
    mean: percent('Mean of the grades'),
    median: percent('Median of the grades'),
    lowerQuartile: percent('Grade below which a quarter of the grades lies'),
    upperQuartile: percent('Grade below which three quarters of the grades lie'),
    passRate: percent('Share of the grades that reach the passing score of the course'),
  })),
)
export type ItemGrades = z.output<typeof ItemGrades>

const days = (says: string) =>
  z.coerce
    .number()
    .int()
    .min(1)
    .max(3650)
    .default(attentionDays)
    .meta({ description: `${says} (default ${attentionDays})` })

export const questions = {
  atRisk: {
    at: 'GET /v1/analytics/at-risk',
    summary: 'List learners who may need help, one row per learner and course',
    roles: staff,
    query: z.strictObject({
      reason: filtering(
        choices(attentionKinds)
          .optional()
          .meta({
            description: `Comma-separated list of reasons, of which a learner must have one: ${attentionKinds.join(', ')} (default any)`,
          }),
        { by: 'choice', field: 'reasons', choices: attentionKinds },
      ),
      inactive_days: days('Days without access after which a learner is inactive'),
      stuck_days: days('Days without progress after which a learner is stuck'),
      stuck_below: z.coerce
        .number()
        .min(0)
        .max(100)
        .default(stuckBelow)
        .meta({
          description: `Completion percentage from which a learner is not stuck (default ${stuckBelow})`,
        }),
      course_id: ofCourses,
      learner_id: ofLearners,
      group_id: inGroups,
      term_id: ofTerms,
      ...uncounted,
    }),
    ...listOf(AtRiskRow, 'learners who may need help'),
  },
  activity: {
    at: 'GET /v1/analytics/activity',
    summary: 'Report the activity of learners by day, week or month',
    roles: staff,
    query: z.strictObject({
      by: z.enum(activityUnits).default('week').meta({ description: 'Length of the periods (default week)' }),
      start_date: Bound.optional().meta({
        description: 'First day, or time, that is reported (default 30 days, 12 weeks or 12 months)',
      }),
      end_date: Bound.optional().meta({
        description: `Last day that is reported, or the time that it ends before (default now); up to ${maxActivityPeriods} periods`,
      }),
      time_zone: Timezone.default('UTC').meta({
        description: 'Time zone of days, weeks and months (default UTC)',
      }),
      course_id: ofCourses,
      learner_id: ofUsers,
      group_id: inGroups,
      term_id: ofTerms,
    }),
    response: Activity,
    report: true,
  },
  grades: {
    at: 'GET /v1/analytics/grades',
    summary: 'Report the distribution of grades, one row per item of a course',
    roles: staff,
    query: z.strictObject({
      by: z
        .enum(gradeGroupings)
        .default('item')
        .meta({ description: 'What the grades are grouped by (default item)' }),
      course_id: ofCourses,
      group_id: inGroups,
      term_id: ofTerms,
      ...uncounted,
    }),
    ...listOf(ItemGrades, 'items of courses'),
  },
} as const
