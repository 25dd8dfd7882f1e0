import type { Lesson, LessonInput } from '../../contract/lessons.ts'
import type { IdPrefix } from '../database/id.ts'

/** A lesson's input as it is stored: everything in it has an id. */
export type StoredInput = ReturnType<typeof withContentIds>

/** A lesson's input with an id for every block, assessment and question that came without one. */
export function withContentIds(input: LessonInput, newId: (prefix: IdPrefix) => string) {
  return {
    ...input,
    contentBlocks: input.contentBlocks.map(({ id = newId('blk'), ...block }) => ({ id, ...block })),
    assessments: input.assessments.map(({ id = newId('asm'), questions, ...assessment }) => ({
      id,
      ...assessment,
      questions: questions.map(({ id = newId('qst'), ...question }) => ({ id, ...question })),
    })),
  }
}

/** A lesson as learners see it: without the answers of its questions. */
export function forLearner(lesson: Lesson): Lesson {
  return {
    ...lesson,
    assessments: lesson.assessments.map((assessment) => ({
      ...assessment,
      questions: assessment.questions.map(({ answer, ...question }) => question),
    })),
  }
}
