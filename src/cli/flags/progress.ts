import { ProgressInput, progress } from '../../contract/progress.ts'
import { filtersOf, flagsOf } from './derive-flags.ts'

export const fields = flagsOf(ProgressInput, {
  completionPercentage: { name: 'completion' },
  lastAccessed: { default: 'now' },
})

export const filters = filtersOf(progress.all)

export const learnerFilters = filtersOf(progress.list)

export const historyFilters = filtersOf(progress.history, {
  course_id: { summary: 'Course: id or external id', required: true },
})
