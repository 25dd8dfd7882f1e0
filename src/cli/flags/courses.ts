import { CourseInput, courses } from '../../contract/courses.ts'
import { filtersOf, flagsOf, termFilter } from './derive-flags.ts'

/** The flags of a course's fields. */
export const fields = flagsOf(CourseInput, {
  modules: { as: '[{"title": …, "description": …}]' },
  tags: { kind: 'words' },
  termId: { name: 'term' },
  'assessmentCriteria.weights': { as: '[{"name": "exam", "weight": 60}]' },
  'adaptiveDifficulty.enabled': { name: 'adaptive-difficulty' },
  'progressTracking.enabled': { name: 'progress-tracking' },
})

/** The filters of lists of courses. */
export const filters = filtersOf(courses.list, {
  status: { summary: 'Filter by status' },
  difficulty: { summary: 'Filter by difficulty' },
  q: { name: 'search', summary: 'Search titles and descriptions' },
  tag: { summary: 'Filter by tag' },
  term_id: termFilter,
  external_id: { summary: 'Filter by your own id' },
  managed_by: { summary: 'Filter by managing system' },
})

/** The filters of lists of deleted courses. */
export const deletedFilters = filtersOf(courses.listDeleted, {}, ['sort'])

/** The filters of the versions of a course. */
export const versionFilters = filtersOf(courses.versions)
