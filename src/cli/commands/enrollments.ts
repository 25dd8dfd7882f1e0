import { memberOf } from '../../client/member.ts'
import { isJsonObject } from '../../codec/json-object.ts'
import type { EnrollmentInput, enrollments } from '../../contract/enrollments.ts'
import type { QueryInput } from '../../contract/operation.ts'
import type { Command, Given } from '../command/command.ts'
import type { Question } from '../command/confirm.ts'
import type { FieldFlags, QueryFlags } from '../command/flag.ts'
import { sortFlag } from '../command/sort-flag.ts'
import type { Lookup } from '../operation/lookup.ts'
import { call } from '../operation/operation-command.ts'
import { inVersion, thingName } from '../operation/thing-name.ts'
import { valueAt } from '../output/columns.ts'
import { exportCommand } from './export.ts'
import { importCommand } from './import.ts'

const contract = async () => (await import('../../contract/calls.ts')).calls.enrollments

const roles = ['learner', 'instructor']
const statuses = ['active', 'inactive', 'completed', 'deleted']

const fields = {
  courseId: { name: 'course', summary: 'Course: id or ext:<your own id>', required: true },
  userId: {
    name: 'user',
    summary: 'User: id, ext:<your own id> or email:<address>',
    required: true,
  },
  role: { summary: 'Role in the course', choices: roles, default: 'learner' },
  status: { summary: 'Status', choices: statuses, default: 'active' },
  enrolledAt: { kind: 'time', summary: 'Day or time of the enrolment, or how long ago', default: 'now' },
  managedBy: { summary: 'External system that manages this record' },
} satisfies FieldFlags<EnrollmentInput>

const { status, enrolledAt, managedBy } = fields

const filters = {
  course_id: { name: 'course', summary: 'Filter by course: id or ext:<your own id>' },
  user_id: { name: 'user', summary: 'Filter by user: id, ext:<your own id> or email:<address>' },
  role: { summary: 'Filter by role', choices: roles },
  status: { kind: 'words', summary: 'Filter by status', choices: statuses },
  sort: sortFlag(['createdAt', 'updatedAt', 'enrolledAt'], '-createdAt'),
} satisfies QueryFlags<QueryInput<typeof enrollments.list>>

const enrollment = { name: 'enrollment', summary: 'Id of the enrolment' }
const columns = [
  'userEmail',
  'courseTitle',
  'status',
  'role',
  'enrolledAt',
  'completedAt',
  'id',
  'userId',
  'courseId',
]

/** Names whose enrolment it is, and in which course. */
async function deletion(look: Lookup, { arguments: { enrollment = '' } }: Given): Promise<Question> {
  const consequence = 'Progress is kept.'
  const found = await look.one((await contract()).get, { enrollmentId: enrollment })
  if (!isJsonObject(found)) return { text: `Delete enrolment ${enrollment}`, consequence }
  const { users, courses } = (await import('../../contract/calls.ts')).calls
  const { userId, courseId } = { userId: String(found['userId']), courseId: String(found['courseId']) }
  const user = thingName(await look.one(users.get, { userId }), userId)
  const course = thingName(await look.one(courses.get, { courseId }), courseId)
  return { text: `Delete the enrolment of ${user} in course ${course}`, consequence }
}

/** `learnctl enrollments …` */
export const commands: readonly Command[] = [
  call({
    name: 'list',
    summary: 'List enrolments',
    operation: async () => (await contract()).list,
    query: filters,
    columns,
    examples: ['enrollments list --course ext:AAA-2014J --status active --all'],
  }),
  call({
    name: 'get',
    summary: 'Show an enrolment',
    operation: async () => (await contract()).get,
    arguments: { enrollmentId: enrollment },
    columns,
    examples: ['enrollments get "$(learnctl enrollments list --course ext:AAA-2014J --user ext:6516 -q)"'],
  }),
  call({
    name: 'create',
    summary: 'Enrol a user in a course',
    operation: async () => (await contract()).create,
    fields,
    columns,
    done: (answer, { flags }) => {
      const user = flags['user'] ?? valueAt(answer, 'userId')
      const course = flags['course'] ?? valueAt(answer, 'courseId')
      return `Enrolled user ${user} in course ${course} (${memberOf(answer, 'id')})`
    },
    examples: ['enrollments create --course ext:first-course --user ext:11391'],
  }),
  call({
    name: 'update',
    summary: 'Update an enrolment',
    operation: async () => (await contract()).update,
    arguments: { enrollmentId: enrollment },
    fields: { status, enrolledAt, managedBy },
    merge: true,
    versioned: true,
    columns,
    done: (answer, { arguments: { enrollment } }) => `Updated enrolment ${enrollment}${inVersion(answer)}`,
    examples: [
      'enrollments update "$(learnctl enrollments list --course ext:AAA-2014J --user ext:6516 -q)" --status inactive',
    ],
  }),
  call({
    name: 'delete',
    summary: 'Delete an enrolment (progress is kept)',
    operation: async () => (await contract()).delete,
    arguments: { enrollmentId: enrollment },
    destroys: {
      action: ({ arguments: { enrollment } }) => `delete enrolment ${enrollment}`,
      question: deletion,
    },
    done: (_, { arguments: { enrollment } }) => `Deleted enrolment ${enrollment}; progress is kept`,
    examples: [
      'enrollments delete "$(learnctl enrollments list --course ext:AAA-2014J --user ext:6516 -q)" --yes',
    ],
  }),
  importCommand('enrollments', 'enrolments', ['enrollments import enrollments.csv']),
  exportCommand({
    dataset: 'enrollments',
    noun: 'enrolments',
    query: { ...filters, sort: sortFlag(['createdAt', 'updatedAt', 'enrolledAt'], 'createdAt') },
    order: 'createdAt',
    examples: ['enrollments export --course ext:AAA-2014J --file all-enrollments.csv'],
  }),
]
