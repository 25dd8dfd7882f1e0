import { LessonInput, lessons } from '../../contract/lessons.ts'
import { filtersOf, flagsOf } from './derive-flags.ts'

export const fields = flagsOf(
  LessonInput,
  {
    moduleId: { name: 'module', summary: 'Module: title, number of its place, or id' },
    dueAt: { time: 'future', never: true, default: 'never' },
  },
  ['courseId', 'title'],
  ['order', 'learningObjectives'],
)

export const filters = filtersOf(lessons.list, {
  module_id: { name: 'module', summary: 'Filter by module: id, with --course also title' },
})

export const deletedFilters = filtersOf(lessons.listDeleted, {}, ['sort'])

export const versionFilters = filtersOf(lessons.versions)
