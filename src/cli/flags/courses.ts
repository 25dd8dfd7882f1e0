import { CourseInput, courses } from '../../contract/courses.ts'
import { filtersOf, flagsOf, termFilter } from './derive-flags.ts'

export const fields = flagsOf(
  CourseInput,
  {
    tags: { kind: 'words' },
    termId: { name: 'term' },
  },
  [],
  ['learningObjectives', 'assessmentCriteria.moveOn', 'adaptiveDifficulty', 'progressTracking'],
)

export const filters = filtersOf(courses.list, {
  status: { summary: 'Filter by status' },
  difficulty: { summary: 'Filter by difficulty' },
  q: { name: 'search', summary: 'Search titles and descriptions' },
  tag: { name: 'tags', summary: 'Filter by tag' },
  term_id: termFilter,
  external_id: { summary: 'Filter by your own id' },
  managed_by: { summary: 'Filter by managing system' },
})

export const deletedFilters = filtersOf(courses.listDeleted, {}, ['sort'])

export const versionFilters = filtersOf(courses.versions)
