import { analytics } from '../../contract/analytics.ts'
import { filtersOf } from './derive-flags.ts'

export const filters = filtersOf(
  analytics.learners,
  {
    start_date: {
      kind: 'time',
      time: 'start',
      summary: 'Last accessed on or after this day or time, such as 2026-01-31 (inclusive)',
    },
    end_date: {
      kind: 'time',
      time: 'end',
      summary: 'Last accessed on or before this day (inclusive), or before this time (exclusive)',
    },
    status: { summary: 'Filter by progress' },
    difficulty: { summary: 'Filter by difficulty of the course' },
    enrollment_status: {
      summary: 'Filter by status of the enrolment',
      default: 'all but deleted: enrolments that were removed',
    },
    include_not_started: { summary: 'With dates, include learners who have not started' },
  },
  ['format', 'summary', 'bom', 'raw'],
)

const happened = {
  start_date: {
    kind: 'time',
    time: 'start',
    summary: 'Happened on or after this day or time, such as 2026-01-31 (inclusive)',
  },
  end_date: {
    kind: 'time',
    time: 'end',
    summary: 'Happened on or before this day (inclusive), or before this time (exclusive)',
  },
} as const

export const statementFilters = filtersOf(analytics.statements, {
  ...happened,
  xapi_version: { summary: 'Version of xAPI' },
  actor: {
    summary: 'Name learners by id, by your own external id, or by e-mail address',
  },
  home_page: {
    placeholder: 'url',
    summary: 'URL of your academy, which accounts, activities and ids begin with',
  },
})

export const backfillFilters = filtersOf(analytics.backfill, happened, ['endpoint_id'])

export const riskFilters = filtersOf(
  analytics.atRisk,
  {
    reason: { summary: 'Filter by reason', default: 'any' },
    inactive_days: {
      kind: 'number',
      placeholder: 'days',
      summary: 'Days without access after which a learner is inactive',
      default: '14',
    },
    stuck_days: {
      kind: 'number',
      placeholder: 'days',
      summary: 'Days without progress after which a learner is stuck',
      default: '14',
    },
  },
  ['stuck_below'],
)

/** `--timezone` sets the time zone. */
export const activityFilters = filtersOf(
  analytics.activity,
  {
    by: { summary: 'Length of the periods', default: 'week' },
    start_date: {
      kind: 'time',
      time: 'start',
      summary: 'First day or time, such as 2026-01-31',
      default: '30 days, 12 weeks or 12 months',
    },
    end_date: {
      kind: 'time',
      time: 'end',
      summary: 'Last day (inclusive), or the time that the report ends before',
      default: 'now',
    },
  },
  ['time_zone'],
)

export const itemFilters = filtersOf(analytics.grades, {
  by: { summary: 'What the grades are grouped by', default: 'item' },
})

export const reportFilters = filtersOf(
  analytics.report,
  {
    start_date: {
      kind: 'time',
      time: 'start',
      summary: 'First day or time of the activity (inclusive)',
      default: '12 weeks before its end',
    },
    end_date: {
      kind: 'time',
      time: 'end',
      summary: 'Last day of the activity (inclusive), or time it ends before (exclusive)',
      default: 'now',
    },
  },
  ['time_zone'],
)
