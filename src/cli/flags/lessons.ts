import { LessonInput, lessons } from '../../contract/lessons.ts'
import { courseFilter, filtersOf, flagsOf } from './derive-flags.ts'

export const fields = flagsOf(
  LessonInput,
  {
    courseId: { name: 'course' },
    moduleId: { name: 'module', summary: 'Module: title, number of its place, or id' },
    dueAt: { time: 'future', never: true, default: 'never' },
  },
  ['courseId', 'title'],
  ['order', 'learningObjectives'],
)

export const filters = filtersOf(lessons.list, {
  course_id: courseFilter,
  module_id: { name: 'module', summary: 'Filter by module: id, with --course also title' },
  status: { summary: 'Filter by status' },
  external_id: { summary: 'Filter by your own id' },
})

export const deletedFilters = filtersOf(
  lessons.listDeleted,
  { course_id: { name: 'course', summary: 'Filter by course: id or external id' } },
  ['sort'],
)

export const versionFilters = filtersOf(lessons.versions)
