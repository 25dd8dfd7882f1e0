import { escapeReference } from '../../codec/reference.ts'
import { calls } from '../../contract/calls.ts'
import { wholeCourse } from '../../contract/constants.ts'
import { GradeInput } from '../../contract/grades.ts'
import { columnsOf } from './column.ts'
import type { Dataset } from './dataset.ts'
import { courseKeyIn, userKeyIn } from './names.ts'
import { ofFields } from './record.ts'

const { list, get, set, batch } = calls.grades

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
    list,
    get,
    create: set,
    delete: calls.grades.delete,
    batch,
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
