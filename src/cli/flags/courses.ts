import { CourseInput } from '../../contract/course.ts'
import { flagsOf } from './flags-of.ts'

/** The flags of a course's fields. */
export const fields = flagsOf(CourseInput, {
  modules: { as: '[{"title": …, "description": …}]' },
  tags: { kind: 'words' },
  'assessmentCriteria.weights': { as: '[{"name": "exam", "weight": 60}]' },
  'adaptiveDifficulty.enabled': { name: 'adaptive-difficulty' },
  'progressTracking.enabled': { name: 'progress-tracking' },
})
