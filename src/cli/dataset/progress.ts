import { escapeReference } from '../../codec/reference.ts'
import { calls } from '../../contract/calls.ts'
import { wholeCourse } from '../../contract/constants.ts'
import { GradeInput } from '../../contract/grades.ts'
import { ProgressItem } from '../../contract/progress.ts'
import { columnsOf } from './column.ts'
import type { Dataset } from './dataset.ts'
import { courseKeyIn, ofFields, userKeyIn } from './names.ts'

/** Progress of learners in courses, matched by both; always sent as a whole. */
export const progress: Dataset = {
  name: 'progress',
  noun: 'progress record',
  schema: ProgressItem,
  columns: columnsOf(ProgressItem),
  keys: [['learnerId', 'courseId']],
  references: { courseId: 'courses', learnerId: 'users' },
  operations: {
    ...calls.progress,
    history: calls.progress.steps,
    create: calls.progress.set,
    params: ({ learnerId }) => ({ learnerId: String(learnerId) }),
  },
  find: ({ learnerId, courseId }) => ({
    params: { learnerId: String(learnerId) },
    query: { course_id: String(courseId) },
    matches: () => true,
  }),
  toRecord: async (shown, names) => ({
    ...ofFields(ProgressItem, shown),
    courseId: await courseKeyIn(shown, names),
    learnerId: await userKeyIn(shown, 'learnerId', names),
  }),
  toBody: async (record) => {
    const { learnerId: _, ...body } = record
    return body
  },
}

const { history: _, ...gradeCalls } = calls.grades

/** Grades, matched by learner, course, item and, if present, source. */
export const grades: Dataset = {
  name: 'grades',
  noun: 'grade',
  presumed: { extraCredit: false },
  schema: GradeInput,
  columns: columnsOf(GradeInput),
  keys: [
    ['learnerId', 'courseId', 'itemId', 'source'],
    ['learnerId', 'courseId', 'itemId'],
    ['learnerId', 'courseId'],
  ],
  references: { courseId: 'courses', learnerId: 'users' },
  operations: {
    ...gradeCalls,
    create: gradeCalls.set,
    params: ({ id }) => (id === undefined ? {} : { gradeId: String(id) }),
  },
  find: ({ learnerId, courseId, itemId = wholeCourse, source }) => ({
    query: {
      learner_id: escapeReference(String(learnerId)),
      course_id: escapeReference(String(courseId)),
      item_id: String(itemId),
      ...(source ? { source: String(source) } : {}),
    },
    matches: (shown) => shown['itemId'] === itemId && (!source || shown['source'] === source),
    // A grade that is declared without a source is created as a manual one.
    prefers: (shown) => shown['source'] === 'manual',
  }),
  toRecord: async (shown, names) => ({
    ...ofFields(GradeInput, shown),
    learnerId: await userKeyIn(shown, 'learnerId', names),
    courseId: await courseKeyIn(shown, names),
    // Lets an import accept a score above the maximum.
    ...(Number(shown['scoreGiven']) > Number(shown['scoreMaximum']) && { extraCredit: true }),
  }),
  toBody: async (record) => record,
}
