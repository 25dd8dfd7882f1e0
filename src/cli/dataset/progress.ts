import { calls } from '../../contract/calls.ts'
import { ProgressItem } from '../../contract/progress.ts'
import { columnsOf } from './column.ts'
import type { Dataset } from './dataset.ts'
import { courseKeyIn, userKeyIn } from './names.ts'
import { ofFields } from './record.ts'

const { list, all, steps, set, batch } = calls.progress

/** Progress of learners in courses, matched by both; always sent as a whole. */
export const progress: Dataset = {
  name: 'progress',
  noun: 'progress record',
  schema: ProgressItem,
  columns: columnsOf(ProgressItem),
  keys: [['learnerId', 'courseId']],
  references: { courseId: 'courses', learnerId: 'users' },
  operations: {
    list,
    all,
    history: steps,
    create: set,
    batch,
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
