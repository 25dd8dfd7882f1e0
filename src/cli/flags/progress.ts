import { ProgressInput } from '../../contract/progress.ts'
import { flagsOf } from './flags-of.ts'

/** The flags of the fields of progress. */
export const fields = flagsOf(ProgressInput, {
  courseId: { name: 'course' },
  completionPercentage: { name: 'completion' },
  lastAccessed: { default: 'now' },
})
