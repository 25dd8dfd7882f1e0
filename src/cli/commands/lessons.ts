import type { Caller } from '../../client/caller.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { valueAt } from '../../tables/column.ts'
import { type Command, type Given, notAList } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import type { Flag } from '../command/flag.ts'
import { lessonFlags } from '../flags/courses.ts'
import type { CourseOf } from '../operation/course-modules.ts'
import { thingName } from '../operation/thing-name.ts'
import { hasChosenForm } from '../output/output.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'
import { moveToTrash, withDeleted } from './deletion.ts'
import { exportCommand, oldestFirst } from './export.ts'
import { historyCommands } from './history.ts'
import { importCommand } from './import.ts'
import { readPosition } from './modules.ts'
import { recordCommands } from './record-commands.ts'

const flags = [
  {
    name: 'module',
    kind: 'text',
    placeholder: 'module',
    summary:
      'Module to move it to: title, number of its place, or id; none for no module (default that of the other lesson, else its own)',
  },
  {
    name: 'after',
    kind: 'text',
    placeholder: 'lesson',
    summary: 'Place it after this lesson: id, external id or title',
  },
  { name: 'position', kind: 'number', summary: 'Place it here among the lessons of the module, from 1' },
] as const satisfies readonly Flag[]

const columns = ['title', 'courseTitle', 'status', 'version', 'updatedAt', 'id']

const moveCommand: Command = {
  name: 'move',
  summary: 'Move a lesson within its course',
  writes: ['academy'],
  prints: ['Lesson'],
  description:
    'With --module alone, the lesson comes after the last one of that module. Lessons that are in the way move down.',
  arguments: [{ name: 'lesson', summary: 'Lesson: id or external id' }],
  flags,
  refuses: notAList,
  examples: [
    'lessons move ext:welcome --position 1',
    'lessons move ext:bio-waves --after "Where to go from here"',
  ],
  run: moveLesson,
}

async function moveLesson(context: Context, given: Given): Promise<void> {
  const { session, io, settings, output } = context
  const { calls } = await import('../../contract/calls.ts')
  const { signal } = io
  const { flags } = given
  const position = readPosition(flags)
  if (position === null && flags['after'] === undefined && flags['module'] === undefined) {
    throw new UsageError('--module, --after or --position is required')
  }
  const caller = await session.caller()
  const params = { lessonId: given.arguments['lesson'] ?? '' }
  const { data: lesson } = await caller.call(calls.lessons.get, { params, signal })
  if (!isJsonObject(lesson))
    throw new CommandError('invalid_response', 'failure', 'The response contains no lesson')
  const { body, place } = await changesOf(caller, lesson, flags, position, signal)
  const name = `lesson ${thingName(lesson)}`
  const input = {
    params: { lessonId: String(lesson['id']) },
    body: body as never,
    ...(typeof lesson['version'] === 'number' && { ifMatch: lesson['version'] }),
    signal,
  }
  const isMoved = Object.keys(body).length > 0
  if (settings.dryRun.value) {
    if (!isMoved) return output.note(`Nothing would be sent: ${name} is there already`)
    const { showRequest } = await import('../operation/dry-run.ts')
    return showRequest(context, caller.request(calls.lessons.update, input))
  }
  const shown: unknown = isMoved ? (await caller.write(calls.lessons.update, input)).data : lesson
  const moved = isJsonObject(shown) ? shown : lesson
  if (hasChosenForm(settings) && !settings.quiet.value) {
    return output.one(moved, { table: columns, paths: calls.lessons.get.holds.answer })
  }
  await output.done(
    isMoved ? `Moved ${name} to place ${place}` : `No changes to ${name}: it is there already`,
  )
  if (settings.quiet.value || !io.stdout.isTTY) await output.text(`${String(lesson['id'])}\n`)
}

/** `place` counts as `--position` does. */
interface Move {
  readonly body: JsonObject
  /** As in `to place 2 of 3 in its module`. */
  readonly place: string
}

/** Empty if the lesson is there already. */
async function changesOf(
  caller: Caller,
  lesson: JsonObject,
  flags: Given['flags'],
  position: number | null,
  signal: AbortSignal,
): Promise<Move> {
  const { readCourse, findModule } = await import('../operation/course-modules.ts')
  const { readLessons } = await import('../records/sources/course.ts')
  const courseId = String(lesson['courseId'])
  const all = await readLessons(caller, { id: courseId }, signal)
  const others = all.filter(({ id }) => id !== lesson['id'])
  const previous = flags['after'] === undefined ? null : lessonNamed(others, String(flags['after']), lesson)

  async function moduleId(): Promise<unknown> {
    const text = flags['module']
    if (text === undefined) return (previous ?? lesson)['moduleId'] ?? null
    if (text === 'none') return null
    return findModule(await readCourse(caller, courseId, signal), String(text))['id']
  }
  const wanted = await moduleId()
  const group = others.filter(({ moduleId = null }) => String(moduleId) === String(wanted))
  const isElsewhere = String(wanted) !== String(lesson['moduleId'] ?? null)
  const index = placeIn()
  const stays = index === null || all.indexOf(all.find(({ id }) => id === lesson['id']) ?? {}) === index
  const order = Number(others[(index ?? 0) - 1]?.['order'] ?? 0) + 1
  const own = index ?? all.findIndex(({ id }) => id === lesson['id'])
  const before = group.filter((other) => others.indexOf(other) < own).length
  return {
    body: { ...(isElsewhere && { moduleId: wanted }), ...(!stays && { order }) },
    place: `${before + 1} of ${group.length + 1}${wanted === null ? '' : ' in its module'}`,
  }

  /** Counts the other lessons of the course; null to stay where it is. */
  function placeIn(): number | null {
    if (previous) return others.indexOf(previous) + 1
    const last = group.at(-1)
    if (last === undefined) return null
    const next = group[(position ?? group.length + 1) - 1]
    return next ? others.indexOf(next) : others.indexOf(last) + 1
  }
}

/** Returns the lesson of a course with an id, an external id or a title that no other one has. */
function lessonNamed(lessons: readonly JsonObject[], name: string, moved: JsonObject): JsonObject {
  const external = name.startsWith('ext:') ? name.slice(4) : name
  const known = lessons.find(({ id, externalId }) => String(id) === name || externalId === external)
  const titled = lessons.filter(({ title }) => title === name)
  const found = known ?? (titled.length === 1 ? titled[0] : undefined)
  if (found) return found
  if (titled.length > 1) {
    throw new CommandError(
      'ambiguous',
      'usage',
      `${titled.length} lessons of the course are called ${name}`,
      {
        why: titled.map(({ id, order }) => `${String(id)}: place ${String(order)}`),
        hint: 'Use the id',
      },
    )
  }
  const course = String(moved['courseTitle'] ?? moved['courseId'])
  throw new CommandError('not_found', 'notFound', `Lesson ${name} not found in course ${course}`, {
    choice: { given: name, valid: lessons.map(({ title }) => String(title)) },
  })
}

const contract = async () => (await import('../../contract/calls.ts')).calls.lessons

const argument = { name: 'lesson', summary: 'Lesson: id or external id' }

const lesson = recordCommands({ operations: contract, argument, columns, ...lessonFlags })

function withModuleTitle(command: Command, courseOf: CourseOf): Command {
  return {
    ...command,
    run: async (context, given) => {
      if (given.flags['module'] === undefined) return command.run(context, given)
      const { withModuleId } = await import('../operation/course-modules.ts')
      await command.run(context, await withModuleId(context, given, courseOf))
    },
  }
}

async function courseGiven({ flags }: Given): Promise<string | null> {
  const courses = [flags['course'] ?? []].flat()
  return courses.length === 1 ? String(courses[0]) : null
}

/** Null if the line moves it to another course. */
async function courseOfLesson(given: Given, caller: Caller, signal: AbortSignal): Promise<string | null> {
  const course = await courseGiven(given)
  const lessonId = given.arguments['lesson'] ?? given.rest[0]
  if (course !== null || lessonId === undefined) return course
  const { data } = await caller.call((await contract()).get, { params: { lessonId }, signal })
  return valueAt(data, 'courseId') === undefined ? null : String(valueAt(data, 'courseId'))
}

export const commands: readonly Command[] = [
  withDeleted(
    'lesson',
    withModuleTitle(
      lesson.list({ examples: ['lessons list --course ext:first-course', 'lessons list --deleted'] }),
      courseGiven,
    ),
    {
      filters: lessonFlags.deletedFilters,
      columns: ['order', 'title', 'deletedAt', 'restorableUntil', 'externalId', 'id', 'courseId'],
    },
  ),
  lesson.get({ examples: ['lessons get ext:welcome -o yaml'] }),
  withModuleTitle(
    lesson.create({
      dataset: 'lessons',
      summary: 'Create a lesson in a course',
      examples: [
        'lessons create --course ext:first-course --title "The tides" --duration-minutes 45',
        'lessons create --course ext:first-course --body @lesson.yaml',
        'lessons create --course first-course --external-id tides --title "The tides" --upsert',
      ],
    }),
    courseGiven,
  ),
  withModuleTitle(
    lesson.update({
      examples: ['lessons update ext:welcome --unset duration-minutes'],
    }),
    courseOfLesson,
  ),
  moveCommand,
  lesson.delete({
    ...moveToTrash('lesson'),
    examples: ['lessons delete ext:welcome --yes'],
  }),
  ...historyCommands({
    thing: 'lesson',
    argument,
    operations: contract,
    versionFilters: lessonFlags.versionFilters,
    updateColumns: columns,
    columns,
    example: 'ext:welcome',
  }),
  importCommand({ dataset: 'lessons', nouns: 'lessons', examples: ['lessons import lessons.jsonl'] }),
  withModuleTitle(
    exportCommand({
      dataset: 'lessons',
      query: oldestFirst(lessonFlags.filters),
      examples: ['lessons export --course ext:first-course --file all-lessons.jsonl'],
    }),
    courseGiven,
  ),
]
