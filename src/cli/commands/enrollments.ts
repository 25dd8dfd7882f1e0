import { isJsonObject } from '../../codec/json-object.ts'
import type { Command, Given } from '../command/command.ts'
import type { Question } from '../command/confirm.ts'
import { fields, filters } from '../flags/enrollments.ts'
import type { Lookup } from '../operation/lookup.ts'
import { call } from '../operation/operation-command.ts'
import type { Find, Finding } from '../operation/operation-spec.ts'
import { courseIn, personIn, thingName, updatedLine } from '../operation/thing-name.ts'
import { valueAt } from '../output/columns.ts'
import { enrollmentFlags } from './enrollment-flags.ts'
import { exportCommand } from './export.ts'
import { importCommand } from './import.ts'

const contract = async () => (await import('../../contract/calls.ts')).calls.enrollments

const { status, enrolledAt, managedBy } = fields

const enrollment = { name: 'enrollment', summary: 'Id of the enrolment' }
/** An enrolment argument that --user and --course can replace. */
const found = { ...enrollment, instead: ['user', 'course'] }

/** Returns the finder of an enrolment, loaded at its first use. */
function finder(deleted: boolean) {
  return async (finding: Finding): Promise<Find> =>
    (await import('./enrollment-finder.ts')).enrollmentFinder({ deleted })(finding)
}

/** Describes the enrolment from the command line. */
function meant({ arguments: { enrollment }, flags }: Given): string {
  return enrollment === undefined
    ? `enrolment of user ${flags['user']} in course ${flags['course']}`
    : `enrolment ${enrollment}`
}

/** Describes the enrolment from the response, else from the command line. */
function meantOr(answer: unknown, given: Given): string {
  if (valueAt(answer, 'userEmail') === undefined) return meant(given)
  return `enrolment of ${personIn(answer, undefined, 'user')} in course ${courseIn(answer, given)}`
}

const listed = ['userEmail', 'courseTitle', 'role', 'status', 'enrolledAt', 'completedAt']
const columns = [...listed, 'id', 'userId', 'courseId']

/** Describes the enrolment to delete with its learner and course. */
async function deletion(
  look: Lookup,
  { arguments: { enrollment = '' } }: Given,
  found: unknown,
): Promise<Question> {
  const consequence = 'Progress is kept.'
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
    columns: listed,
    examples: ['enrollments list --course ext:AAA-2014J --status active --all'],
  }),
  call({
    name: 'get',
    summary: 'Show an enrolment',
    operation: async () => (await contract()).get,
    arguments: { enrollmentId: found },
    flags: enrollmentFlags,
    finds: finder(true),
    columns,
    examples: ['enrollments get --course ext:AAA-2014J --user ext:6516'],
  }),
  call({
    name: 'create',
    summary: 'Enrol users in a course',
    operation: async () => (await contract()).create,
    subject: {
      field: 'userId',
      argument: { name: 'user', summary: 'User: id, external id or e-mail address', instead: ['user'] },
    },
    several: 'enrolments',
    fields,
    exists: {
      dataset: 'enrollments',
      name: (thing, { flags }) =>
        `enrolment of ${valueAt(thing, 'userEmail') ?? flags['user']} in course ${valueAt(thing, 'courseTitle') ?? flags['course']}`,
    },
    columns,
    done: (answer, given) => {
      const user = personIn(answer, given.arguments['user'] ?? given.flags['user'], 'user')
      return `Enrolled ${user} in course ${courseIn(answer, given)} (${valueAt(answer, 'id')})`
    },
    examples: [
      'enrollments create --course ext:first-course --user ext:11391',
      'enrollments create 6516 11391 --course AAA-2014J --if-not-exists -q',
      'users list --role analyst -q | learnctl enrollments create --ids - --course ext:first-course',
    ],
  }),
  call({
    name: 'update',
    summary: 'Update enrolments',
    operation: async () => (await contract()).update,
    arguments: { enrollmentId: found },
    several: 'enrolments',
    flags: enrollmentFlags,
    finds: finder(true),
    fields: { status, enrolledAt, managedBy },
    merge: true,
    versioned: true,
    columns,
    done: (answer, given, unchanged) => updatedLine('Updated', meantOr(answer, given), answer, unchanged),
    examples: [
      'enrollments update --course AAA-2014J --user 6516 --status inactive',
      'enrollments list --course AAA-2014J -q | learnctl enrollments update --ids - --managed-by registry',
    ],
  }),
  call({
    name: 'delete',
    summary: 'Delete enrolments (progress is kept)',
    operation: async () => (await contract()).delete,
    arguments: { enrollmentId: found },
    several: 'enrolments',
    flags: enrollmentFlags,
    finds: finder(false),
    destroys: {
      action: (given) => `delete ${meant(given)}`,
      read: async (look, { arguments: { enrollment = '' } }) =>
        look.one((await contract()).get, { enrollmentId: enrollment }),
      question: deletion,
      several: async () => ({ consequence: 'Progress is kept.' }),
    },
    done: (found, given) => `Deleted ${meantOr(found, given)}; progress is kept`,
    examples: ['enrollments delete --course AAA-2014J --user 6516 --yes'],
  }),
  call({
    name: 'restore',
    summary: 'Restore deleted enrolments with their progress',
    operation: async () => (await contract()).update,
    arguments: { enrollmentId: found },
    several: 'enrolments',
    flags: enrollmentFlags,
    finds: finder(true),
    fixed: { status: 'active' },
    columns,
    done: (answer, given, unchanged) =>
      unchanged
        ? updatedLine('Restored', meantOr(answer, given), answer, unchanged, 'active')
        : `Restored ${meantOr(answer, given)}`,
    examples: ['enrollments restore --course AAA-2014J --user 6516'],
  }),
  importCommand('enrollments', 'enrolments', ['enrollments import enrollments.csv']),
  exportCommand({
    dataset: 'enrollments',
    noun: 'enrolments',
    query: { ...filters, sort: { ...filters.sort, default: 'createdAt' } },
    order: 'createdAt',
    examples: ['enrollments export --course ext:AAA-2014J --file all-enrollments.csv'],
  }),
]
