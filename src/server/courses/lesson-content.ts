import type { Lesson, LessonInput } from '../../contract/lessons.ts'
import type { IdPrefix } from '../database/id.ts'

/** A lesson's input with an id for every block, assessment and question that came without one. */
export function withContentIds(input: LessonInput, newId: (prefix: IdPrefix) => string): LessonInput {
  return {
    ...input,
    contentBlocks: input.contentBlocks.map((block) => ({ id: newId('blk'), ...block })),
    assessments: input.assessments.map((assessment) => ({
      id: newId('asm'),
      ...assessment,
      questions: assessment.questions.map((question) => ({ id: newId('qst'), ...question })),
    })),
  }
}

/** A lesson as learners see it: without the answers of its questions. */
export function forLearner(lesson: Lesson): Lesson {
  return {
    ...lesson,
    assessments: lesson.assessments.map((assessment) => ({
      ...assessment,
      // Stored by LessonInput's schema: every assessment has its questions.
      questions: (assessment['questions'] as Record<string, unknown>[]).map(
        ({ answer, ...question }) => question,
      ),
    })),
  }
}
