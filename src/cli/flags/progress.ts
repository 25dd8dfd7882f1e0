import { ProgressInput, progress } from '../../contract/progress.ts'
import { courseFilter, filtersOf, flagsOf, groupFilter, userFilter } from './derive-flags.ts'

export const fields = flagsOf(ProgressInput, {
  courseId: { name: 'course' },
  completionPercentage: { name: 'completion' },
  lastAccessed: { default: 'now' },
})

export const filters = filtersOf(progress.all, {
  course_id: courseFilter,
  learner_id: userFilter('learner'),
  group_id: groupFilter,
})

export const learnerFilters = filtersOf(progress.list, {
  course_id: { name: 'course', summary: 'Filter by course: id or external id' },
})

export const historyFilters = filtersOf(progress.history, {
  course_id: { name: 'course', summary: 'Course: id or external id', required: true },
})
