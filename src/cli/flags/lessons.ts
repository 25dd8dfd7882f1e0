import { LessonInput } from '../../contract/lessons.ts'
import { flagsOf } from './flags-of.ts'

/** The flags of a lesson's fields. */
export const fields = flagsOf(
  LessonInput,
  {
    courseId: { name: 'course' },
    moduleId: { name: 'module' },
    order: { default: 'after the last lesson' },
    contentBlocks: { as: '[{"type": "markdown", "body": …}]' },
    assessments: { as: '[{"type": "quiz", "title": …}]' },
  },
  ['courseId', 'title'],
)
