import { ProgressInput, progress } from '../../contract/progress.ts'
import { courseFilter, userFilter } from '../command/reference-flags.ts'
import { filtersOf } from './filters-of.ts'
import { flagsOf } from './flags-of.ts'

/** The flags of the fields of progress. */
export const fields = flagsOf(ProgressInput, {
  courseId: { name: 'course' },
  completionPercentage: { name: 'completion' },
  lastAccessed: { default: 'now' },
})

/** The filters of lists of progress. */
export const filters = filtersOf(progress.all, {
  course_id: courseFilter,
  learner_id: userFilter('learner'),
})
