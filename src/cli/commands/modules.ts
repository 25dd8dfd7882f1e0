import type { Caller } from '../../client/caller.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { type Command, type Given, notAList } from '../command/command.ts'
import { confirm } from '../command/confirm.ts'
import type { Context } from '../command/context.ts'
import type { Flag } from '../command/flag.ts'
import { thingName } from '../operation/thing-name.ts'
import { hasChosenForm } from '../output/output.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'
import { pluralise } from '../terminal/format-text.ts'

const modulesRoom = () => import('../operation/course-modules.ts')

const courseFlag = {
  name: 'course',
  kind: 'text',
  placeholder: 'course',
  summary: 'Course: id or external id',
  required: true,
} as const satisfies Flag
const moduleArgument = { name: 'module', summary: 'Module: title, number of its place, or id' }
const titleFlag = { name: 'title', kind: 'text', summary: 'Title of the module' } as const satisfies Flag
const descriptionFlag = {
  name: 'description',
  kind: 'text',
  summary: 'What the module is about',
} as const satisfies Flag
const placeFlags = [
  { name: 'after', kind: 'text', placeholder: 'module', summary: 'Place it after this module' },
  { name: 'position', kind: 'number', summary: 'Place it here, from 1' },
] as const satisfies readonly Flag[]

const shape = {
  table: ['order', 'title', 'lessons', 'id'],
  paths: ['id', 'title', 'description', 'order', 'lessons'],
}

export const commands: readonly Command[] = [
  {
    name: 'list',
    summary: 'List the modules of a course',
    writes: [],
    prints: ['Module[]'],
    flags: [courseFlag],
    refuses: notAList,
    examples: ['modules list --course ext:BIO-201'],
    run: listModules,
  },
  {
    name: 'create',
    summary: 'Add a module to a course',
    writes: ['academy'],
    prints: ['Module'],
    flags: [courseFlag, { ...titleFlag, required: true }, descriptionFlag, ...placeFlags],
    refuses: notAList,
    examples: ['modules create --course ext:BIO-201 --title Currents --after "The sea"'],
    run: createModule,
  },
  {
    name: 'rename',
    summary: 'Change the title or the description of a module',
    writes: ['academy'],
    prints: ['Module'],
    arguments: [moduleArgument],
    flags: [courseFlag, titleFlag, descriptionFlag],
    refuses: notAList,
    examples: ['modules rename "The sea" --course ext:BIO-201 --title "The sea and its life"'],
    run: renameModule,
  },
  {
    name: 'move',
    summary: 'Move a module within its course',
    writes: ['academy'],
    prints: ['Module'],
    description: 'Its lessons keep their places; lessons move puts them elsewhere.',
    arguments: [moduleArgument],
    flags: [courseFlag, ...placeFlags],
    refuses: notAList,
    examples: ['modules move "The sea" --course ext:BIO-201 --position 1'],
    run: moveModule,
  },
  {
    name: 'delete',
    summary: 'Delete a module (its lessons stay in the course)',
    writes: ['academy'],
    prints: [],
    destructive: true,
    confirms: true,
    arguments: [moduleArgument],
    flags: [courseFlag],
    refuses: notAList,
    examples: ['modules delete "The sea" --course ext:BIO-201 --yes'],
    run: deleteModule,
  },
]

interface Opened {
  readonly caller: Caller
  readonly course: JsonObject
  readonly modules: readonly JsonObject[]
  readonly find: (name: unknown) => JsonObject
}

async function open({ session, io }: Context, { flags }: Given): Promise<Opened> {
  if (flags['course'] === undefined) throw new UsageError('--course is required', { code: 'missing_value' })
  const { readCourse, modulesOf, findModule } = await modulesRoom()
  const caller = await session.caller()
  const course = await readCourse(caller, String(flags['course']), io.signal)
  return { caller, course, modules: modulesOf(course), find: (name) => findModule(course, String(name)) }
}

async function listModules(context: Context, given: Given): Promise<void> {
  const { caller, course, modules } = await open(context, given)
  const counts = await countLessons(context, caller, course)
  const rows = modules.map((module, index) => ({
    id: module['id'],
    title: module['title'],
    description: module['description'],
    order: index + 1,
    lessons: counts === null ? null : (counts.get(String(module['id'])) ?? 0),
  }))
  await context.output.list([rows], shape)
}

/** Returns the number of lessons in each module of a course, by its id; null if the platform does not list lessons. */
async function countLessons(
  { io }: Context,
  caller: Caller,
  { id }: JsonObject,
): Promise<Map<string, number> | null> {
  const [{ calls }, { NotOfferedError }] = await Promise.all([
    import('../../contract/calls.ts'),
    import('../../client/errors.ts'),
  ])
  const counts = new Map<string, number>()
  const query = { course_id: String(id), limit: 100 }
  try {
    for await (const { data } of caller.pages(calls.lessons.list, { query, signal: io.signal })) {
      for (const lesson of data) {
        if (!isJsonObject(lesson) || String(lesson.courseId) !== String(id)) continue
        const module = String(lesson.moduleId)
        counts.set(module, (counts.get(module) ?? 0) + 1)
      }
    }
  } catch (error) {
    if (error instanceof NotOfferedError) return null
    throw error
  }
  return counts
}

async function createModule(context: Context, given: Given): Promise<void> {
  if (given.flags['title'] === undefined) {
    throw new UsageError('--title is required', { code: 'missing_value' })
  }
  const opened = await open(context, given)
  const { modules, course } = opened
  const title = String(given.flags['title']).trim()
  requireNewTitle(opened, title)
  const { description } = given.flags
  const module = { title, ...(description !== undefined && { description }) }
  const place = placeIn(opened, modules, given) ?? modules.length
  await send(context, opened, modules.toSpliced(place, 0, module), place, {
    done: `Added module ${title} to course ${thingName(course)}`,
    same: `No changes to course ${thingName(course)}`,
  })
}

async function renameModule(context: Context, given: Given): Promise<void> {
  const opened = await open(context, given)
  const { title, description } = given.flags
  if (title === undefined && description === undefined) {
    throw new UsageError('--title or --description is required')
  }
  const module = opened.find(given.arguments['module'])
  const next = {
    ...module,
    ...(title !== undefined && { title: String(title).trim() }),
    ...(description !== undefined && { description }),
  }
  const isRenamed = next.title !== module['title']
  if (isRenamed) requireNewTitle(opened, String(next.title))
  const index = opened.modules.indexOf(module)
  const name = nameOf(opened, module)
  await send(context, opened, opened.modules.with(index, next), index, {
    done: isRenamed ? `Renamed ${name} to ${next.title}` : `Updated ${name}`,
    same: `No changes to ${name}`,
  })
}

async function moveModule(context: Context, given: Given): Promise<void> {
  const opened = await open(context, given)
  const module = opened.find(given.arguments['module'])
  const others = opened.modules.filter((each) => each !== module)
  const place = placeIn(opened, others, given, module)
  if (place === null) throw new UsageError('--after or --position is required')
  const name = nameOf(opened, module)
  const at = `place ${place + 1} of ${opened.modules.length}`
  await send(context, opened, others.toSpliced(place, 0, module), place, {
    done: `Moved ${name} to ${at}`,
    same: `No changes to ${name}: it is at ${at}`,
  })
}

async function deleteModule(context: Context, given: Given): Promise<void> {
  const opened = await open(context, given)
  const module = opened.find(given.arguments['module'])
  const name = nameOf(opened, module)
  if (!context.settings.dryRun.value) {
    await confirm(context, `delete ${name}`, async () => {
      const counts = await countLessons(context, opened.caller, opened.course)
      const lessons = counts?.get(String(module['id'])) ?? 0
      const consequence =
        lessons === 0
          ? 'It has no lessons.'
          : `Its ${pluralise(lessons, 'lesson')} stay in the course, without a module.`
      return { text: `Delete ${name}`, consequence }
    })
  }
  const left = opened.modules.filter((each) => each !== module)
  await send(context, opened, left, null, { done: `Deleted ${name}`, same: `No changes to ${name}` })
}

function nameOf({ course }: Opened, { title }: JsonObject): string {
  return `module ${String(title)} of course ${thingName(course)}`
}

function requireNewTitle({ modules, course }: Opened, title: string): void {
  if (!modules.some((module) => module['title'] === title)) return
  throw new CommandError('duplicate', 'conflict', `Course ${thingName(course)} already has a module ${title}`)
}

/** `--after` or `--position`; null without any. Throws a UsageError for both. */
function placeIn(
  { find }: Opened,
  modules: readonly JsonObject[],
  { flags }: Given,
  own?: JsonObject,
): number | null {
  const place = readPosition(flags)
  if (place !== null) return Math.min(place - 1, modules.length)
  if (flags['after'] === undefined) return null
  const previous = find(flags['after'])
  if (previous === own) throw new UsageError('--after must name another module')
  return modules.indexOf(previous) + 1
}

/** Null without it. Throws a UsageError for one that is no place, and if there is `--after`, too. */
export function readPosition({ position, after }: Given['flags']): number | null {
  if (position === undefined) return null
  if (after !== undefined) throw new UsageError('--after and --position cannot be used together')
  if (Number.isInteger(position) && Number(position) >= 1) return Number(position)
  throw new UsageError(`--position must be a whole number, 1 or more, not ${String(position)}`)
}

/** Prints the module at `place`, unless it is gone, and what was done. */
async function send(
  context: Context,
  { caller, course, modules: before }: Opened,
  modules: readonly JsonObject[],
  place: number | null,
  { done, same }: { readonly done: string; readonly same: string },
): Promise<void> {
  const { io, settings, output } = context
  const { calls } = await import('../../contract/calls.ts')
  const { modulesOf } = await modulesRoom()
  // Platforms without an order of their own go by the list.
  const isOrdered = before.length === 0 || before.some((module) => module['order'] !== undefined)
  const wanted = modules.map((module, index) => ({ ...module, ...(isOrdered && { order: index + 1 }) }))
  const { version } = course
  const input = {
    params: { courseId: String(course['id']) },
    body: { modules: wanted as never },
    ...(typeof version === 'number' && { ifMatch: version }),
    signal: io.signal,
  }
  if (settings.dryRun.value) {
    const { showRequest } = await import('../operation/dry-run.ts')
    return showRequest(context, caller.request(calls.courses.update, input))
  }
  const { data } = await caller.write(calls.courses.update, input)
  const answer = isJsonObject(data) && isJsonObject(data['course']) ? data['course'] : data
  const shown: JsonObject = isJsonObject(answer) ? answer : {}
  const module = place === null ? null : (modulesOf(shown)[place] ?? modules[place] ?? {})
  if (module && hasChosenForm(settings) && !settings.quiet.value) return output.one(module, shape)
  const isSame = shown['version'] === version && version !== undefined
  const versionText = shown['version'] === undefined ? '' : `, version ${String(shown['version'])}`
  await output.done(isSame ? same : done + versionText)
  if (module && (settings.quiet.value || !io.stdout.isTTY)) await output.text(`${String(module['id'])}\n`)
}
