import { CourseInput, courses } from '../../contract/courses.ts'
import { filtersOf, flagsOf } from './derive-flags.ts'

export const fields = flagsOf(
  CourseInput,
  {
    tags: { kind: 'words' },
  },
  [],
  ['learningObjectives', 'assessmentCriteria.moveOn', 'adaptiveDifficulty', 'progressTracking'],
)

export const filters = filtersOf(courses.list, {
  q: { name: 'search', summary: 'Search titles and descriptions' },
  tag: { name: 'tags', summary: 'Filter by tag' },
})

export const deletedFilters = filtersOf(courses.listDeleted, {}, ['sort'])

export const versionFilters = filtersOf(courses.versions)
