import { ProgressInput, progress } from '../../contract/progress.ts'
import { courseFilter, filtersOf, flagsOf, groupFilter, userFilter } from './derive-flags.ts'

export const fields = flagsOf(ProgressInput, {
  courseId: { name: 'course' },
  completionPercentage: { name: 'completion' },
  lastAccessed: { default: 'now' },
})

/** The filters of lists of progress. */
export const filters = filtersOf(progress.all, {
  course_id: courseFilter,
  learner_id: userFilter('learner'),
  group_id: groupFilter,
})

export const learnerFilters = filtersOf(progress.list, {
  course_id: { name: 'course', summary: 'Filter by course: id or external id' },
})

/** The filters of the progress history of a learner in a course. */
export const historyFilters = filtersOf(progress.history, {
  course_id: { name: 'course', summary: 'Course: id or external id', required: true },
})
