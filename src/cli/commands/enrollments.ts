import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { escapeReference } from '../../codec/reference.ts'
import { valueAt } from '../../tables/column.ts'
import type { Command, Given } from '../command/command.ts'
import type { Question } from '../command/confirm.ts'
import { bindFieldFlags, type Flag } from '../command/flag.ts'
import type { Lookup } from '../command/lookup.ts'
import { enrollmentFlags } from '../flags/learners.ts'
import { call } from '../operation/operation-command.ts'
import type { Find, Finding } from '../operation/operation-spec.ts'
import { courseIn, personIn, thingName } from '../operation/thing-name.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'
import { exportCommand, oldestFirst } from './export.ts'
import { importCommand } from './import.ts'
import { recordCommands } from './record-commands.ts'

const ownFlags: readonly Flag[] = [
  {
    name: 'user',
    unlisted: ['--learner', '--user-id'],
    kind: 'text',
    summary: 'User: id, external id or e-mail address',
  },
  { name: 'course', unlisted: ['--course-id'], kind: 'text', summary: 'Course: id or external id' },
  {
    name: 'role',
    kind: 'text',
    summary: 'Role in the course, for a user who has both',
    choices: ['learner', 'instructor', 'student', 'teacher'],
  },
]

const contract = async () => (await import('../../contract/calls.ts')).calls.enrollments

function givenName({ arguments: { enrollment }, flags }: Given): string {
  return enrollment === undefined
    ? `enrolment of user ${flags['user']} in course ${flags['course']}`
    : `enrolment ${enrollment}`
}

/** From the response, else from the command line. */
function shownName(answer: unknown, given: Given): string {
  if (valueAt(answer, 'userEmail') === undefined) return givenName(given)
  return `enrolment of ${personIn(answer, undefined, 'user')} in course ${courseIn(answer, given)}`
}

const listed = ['userEmail', 'courseTitle', 'role', 'status', 'enrolledAt', 'completedAt']
const columns = [...listed, 'id', 'userId', 'courseId']

const enrollment = recordCommands({
  operations: contract,
  argument: { name: 'enrollment', summary: 'Id of the enrolment', instead: ['user', 'course'] },
  noun: 'enrolment',
  columns,
  filters: enrollmentFlags.filters,
  fields: enrollmentFlags.changes,
  nameOf: shownName,
})

const anyEnrollment = { flags: ownFlags, finds: enrollmentFinder({ withDeleted: true }) }

async function deletionQuestion(
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

const groupFlag = {
  name: 'group',
  kind: 'text',
  summary: 'Enrol all members of a group: id, external id or name',
} as const

const withoutGroup = ['user', 'ids', 'body', 'upsert', 'if-not-exists']

function withGroup(command: Command): Command {
  return {
    ...command,
    alsoPrints: ['GroupEnrollment'],
    run: async (context, given) => {
      const { flags, rest } = given
      const group = flags[groupFlag.name]
      if (group === undefined) return command.run(context, given)
      const other = withoutGroup.find((name) => flags[name] !== undefined)
      const others = [...(rest.length > 0 ? ['users'] : []), ...(other === undefined ? [] : [`--${other}`])]
      if (others[0] !== undefined) throw new UsageError(`--group and ${others[0]} cannot be used together`)
      if (flags['course'] === undefined) throw new UsageError('--course is required')
      const { enrollGroup } = await import('../records/enroll-group.ts')
      const bound = bindFieldFlags(enrollmentFlags.fields)
      const body = bound.flatMap(({ place, flag }) =>
        flags[flag.name] === undefined ? [] : [[place, flags[flag.name]]],
      )
      try {
        await enrollGroup(context, String(group), Object.fromEntries(body))
      } catch (error) {
        const { withSources } = await import('../operation/refused-call.ts')
        const named = [...bound, { place: 'groupId', flag: groupFlag }]
        throw withSources(error, { fields: named, query: [], positions: [] }, given)
      }
    },
  }
}

export const commands: readonly Command[] = [
  enrollment.list({
    columns: listed,
    examples: ['enrollments list --course ext:AAA-2014J --status active --all'],
  }),
  enrollment.get({
    summary: 'Show an enrolment',
    ...anyEnrollment,
    examples: ['enrollments get --course ext:AAA-2014J --user ext:6516'],
  }),
  withGroup(
    call({
      name: 'create',
      summary: 'Enrol users in a course',
      operation: async () => (await contract()).create,
      subject: {
        field: 'userId',
        argument: {
          name: 'user',
          summary: 'User: id, external id or e-mail address',
          instead: ['user', 'group'],
        },
      },
      flags: [groupFlag],
      several: 'enrolments',
      fields: enrollmentFlags.fields,
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
        'enrollments create --group 5b --course first-course',
      ],
    }),
  ),
  enrollment.update({
    ...anyEnrollment,
    examples: [
      'enrollments update --course AAA-2014J --user 6516 --status inactive',
      'enrollments list --course AAA-2014J -q | learnctl enrollments update --ids - --managed-by registry',
    ],
  }),
  enrollment.delete({
    summary: 'Delete enrolments (progress is kept)',
    flags: ownFlags,
    finds: enrollmentFinder({ withDeleted: false }),
    destroys: { question: deletionQuestion },
    consequence: 'Progress is kept.',
    done: (found, given) => `Deleted ${shownName(found, given)}; progress is kept`,
    examples: ['enrollments delete --course AAA-2014J --user 6516 --yes'],
  }),
  enrollment.status('Restored', 'active', {
    name: 'restore',
    summary: 'Restore deleted enrolments with their progress',
    ...anyEnrollment,
    examples: ['enrollments restore --course AAA-2014J --user 6516'],
  }),
  importCommand({
    dataset: 'enrollments',
    nouns: 'enrolments',
    examples: ['enrollments import enrollments.csv'],
  }),
  exportCommand({
    dataset: 'enrollments',
    people: true,
    noun: 'enrolments',
    query: oldestFirst(enrollmentFlags.filters),
    examples: ['enrollments export --course ext:AAA-2014J --file all-enrollments.csv'],
  }),
]

/** `--role` decides if there are two; a deleted one is found only if there is no other and `withDeleted` allows it. */
function enrollmentFinder({ withDeleted }: { readonly withDeleted: boolean }) {
  return async (finding: Finding): Promise<Find> =>
    async ({ arguments: { enrollment }, flags }) => {
      const { user, course, role } = flags
      if (enrollment !== undefined) {
        const flag = ['user', 'course', 'role'].find((name) => flags[name] !== undefined)
        if (flag === undefined) return enrollment
        throw new UsageError(`--${flag} cannot be used together with the id of an enrolment`)
      }
      if (user === undefined || course === undefined) {
        throw new UsageError(`--${user === undefined ? 'user' : 'course'} is required`, {
          hint: 'Name an enrolment by its id, or by --user and --course',
        })
      }
      const { calls } = await import('../../contract/calls.ts')
      const query = {
        course_id: escapeReference(String(course)),
        user_id: escapeReference(String(user)),
        ...(role !== undefined && { role }),
        ...(withDeleted && { status: anyStatus }),
      }
      const { recordsOf } = await import('../operation/find-named.ts')
      const found = await recordsOf(finding, calls.enrollments.list, query)
      return idOfOnly(found, withDeleted, `user ${String(user)} in course ${String(course)}`)
    }
}

/** Lists omit deleted enrolments unless the status filter includes them. */
const anyStatus = 'active,inactive,completed,deleted'

function idOfOnly(found: readonly JsonObject[], withDeleted: boolean, whose: string): string {
  const active = found.filter(({ status }) => status !== 'deleted')
  const candidates = active.length === 0 && withDeleted ? found : active
  const [only] = candidates
  if (only === undefined) throw new CommandError('not_found', 'notFound', `No enrolment of ${whose}`)
  if (candidates.length === 1) return String(only['id'])
  throw new CommandError('ambiguous', 'usage', `${candidates.length} enrolments of ${whose}`, {
    why: candidates.map(({ id, role, status }) => `${String(id)}: ${String(role)}, ${String(status)}`),
    hint: 'Add --role learner or --role instructor',
  })
}
