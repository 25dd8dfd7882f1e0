import { escapeReference } from '../../codec/reference.ts'
import { calls } from '../../contract/calls.ts'
import { EnrollmentInput } from '../../contract/enrollments.ts'
import { columnsOf } from './column.ts'
import type { Dataset } from './dataset.ts'
import { courseKeyIn, userKeyIn } from './names.ts'
import { ofFields } from './record.ts'

const { list, create, update, batch } = calls.enrollments

/** Enrolments, matched by course, user and role. */
export const enrollments: Dataset = {
  name: 'enrollments',
  noun: 'enrolment',
  schema: EnrollmentInput,
  columns: columnsOf(EnrollmentInput),
  keys: [
    ['courseId', 'userId', 'role'],
    ['courseId', 'userId'],
  ],
  references: { courseId: 'courses', userId: 'users' },
  operations: {
    list,
    get: calls.enrollments.get,
    create,
    update,
    delete: calls.enrollments.delete,
    batch,
    params: ({ id }) => ({ enrollmentId: String(id) }),
  },
  find: ({ courseId, userId, role = 'learner' }) => ({
    query: {
      course_id: escapeReference(String(courseId)),
      user_id: escapeReference(String(userId)),
      role: String(role),
    },
    matches: (shown) => shown['role'] === role,
  }),
  toRecord: async (shown, names) => ({
    ...ofFields(EnrollmentInput, shown),
    courseId: await courseKeyIn(shown, names),
    userId: await userKeyIn(shown, 'userId', names),
  }),
  toBody: async (record, current) => {
    if (current === null) return record
    const { courseId: _course, userId: _user, role: _role, status, ...changes } = record
    // A file does not reopen an enrolment that has been completed since.
    const reopens = status === 'active' && current['status'] === 'completed'
    return { ...changes, ...(status !== undefined && !reopens && { status }) }
  },
}
