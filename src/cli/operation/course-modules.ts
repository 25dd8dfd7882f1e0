import type { Caller } from '../../client/caller.ts'
import { NotOfferedError } from '../../client/errors.ts'
import { shellWord } from '../../codec/display-text.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { moduleNamed } from '../../contract/known-ids.ts'
import type { Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { CommandError } from '../terminal/errors.ts'
import { thingName } from './thing-name.ts'

export async function readCourse(
  caller: Caller,
  reference: string,
  signal: AbortSignal,
): Promise<JsonObject> {
  const { calls } = await import('../../contract/calls.ts')
  const { data } = await caller.call(calls.courses.get, { params: { courseId: reference }, signal })
  if (isJsonObject(data)) return data
  throw new CommandError('invalid_response', 'failure', `The response does not contain course ${reference}`)
}

export function modulesOf({ modules }: JsonObject): readonly JsonObject[] {
  return Array.isArray(modules) ? modules.filter(isJsonObject) : []
}

/**
 * Returns the module of a course with an id, a title or, if modules share the title, the number of its place. Throws a
 * CommandError for none, and for a title that several have.
 */
export function findModule(course: JsonObject, name: string): JsonObject {
  const modules = modulesOf(course)
  const known = modules.find(({ id }) => String(id) === name)
  const place = known ? -1 : moduleNamed(modules, name)
  const found = known ?? (place === null ? undefined : modules[place])
  if (found) return found
  const [shown, hint] = [
    thingName(course),
    `learnctl modules list --course ${shellWord(String(course['id']))}`,
  ]
  if (place === null) {
    throw new CommandError('ambiguous', 'usage', `Several modules of course ${shown} are called ${name}`, {
      hint: `Use the number of its place, or its id: ${hint}`,
    })
  }
  const choice = { given: name, valid: modules.map(({ title }) => String(title)) }
  throw new CommandError('not_found', 'notFound', `Module ${name} not found in course ${shown}`, {
    choice,
    hint: `To see its modules: ${hint}`,
  })
}

function isModuleId(text: string): boolean {
  return /^mod_\w{20,}$/.test(text)
}

/** Null if the line does not tell. */
export type CourseOf = (given: Given, caller: Caller, signal: AbortSignal) => Promise<string | null>

/** Replaces the title in `--module` by the id. A platform that shows no single course gets the text as it is. */
export async function withModuleId(
  { session, io: { signal } }: Context,
  given: Given,
  courseOf: CourseOf,
): Promise<Given> {
  const name = given.flags['module']
  if (typeof name !== 'string' || isModuleId(name)) return given
  const caller = await session.caller()
  try {
    const reference = await courseOf(given, caller, signal)
    if (reference === null) return given
    const { id } = findModule(await readCourse(caller, reference, signal), name)
    return { ...given, flags: { ...given.flags, module: String(id ?? name) } }
  } catch (error) {
    if (error instanceof NotOfferedError) return given
    throw error
  }
}
