import { analytics } from '../../contract/analytics.ts'
import { courseFilter, filtersOf, groupFilter, termFilter, userFilter } from './derive-flags.ts'

/** The filters of the learner report. */
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
    course_id: courseFilter,
    learner_id: userFilter('learner'),
    group_id: groupFilter,
    term_id: termFilter,
    status: { summary: 'Filter by progress' },
    difficulty: { summary: 'Filter by difficulty of the course' },
    enrollment_status: {
      summary: 'Filter by status of the enrolment',
      default: 'all but deleted: enrolments that were removed',
    },
    include_not_started: { summary: 'With dates, include learners who have not started' },
    include_deleted: { summary: 'Include deleted users' },
  },
  ['format', 'summary', 'bom', 'raw'],
)

/** The filters of statements, and their form. */
export const statementFilters = filtersOf(analytics.statements, {
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
  course_id: courseFilter,
  learner_id: userFilter('learner'),
  group_id: groupFilter,
  xapi_version: { summary: 'Version of xAPI' },
  actor: {
    summary: 'Name learners by id, by your own external id, or by e-mail address',
  },
  home_page: {
    placeholder: 'url',
    summary: 'URL of your academy, which accounts, activities and ids begin with',
  },
})

/** The filters of what is sent to a learning record store. */
export const backfillFilters = filtersOf(
  analytics.backfill,
  {
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
    course_id: courseFilter,
  },
  ['endpoint_id'],
)
