import { isJsonObject } from '../../codec/json-text.ts'
import type { Call } from '../../contract/calls.ts'
import type { Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { type BoundFlag, type Flag, noneText, parseFlag } from '../command/flag.ts'
import { type PasswordUse, passwordFlag, readPassword } from '../command/secret-input.ts'
import { setAt, valueAt } from '../output/columns.ts'
import { UsageError } from '../terminal/errors.ts'
import { readDocument, readJsonOrDocument } from './document.ts'
import { bodyFlag, unsetFlag } from './operation-flags.ts'

/** Sources of a body; later ones override earlier ones. */
export interface BodySources {
  readonly operation: Call
  readonly flags: readonly BoundFlag[]
  readonly fixed: Readonly<Record<string, unknown>> | undefined
  readonly password: PasswordUse | undefined
  /** Answers to prompts by field path, kept for a retry. */
  readonly answers: Map<string, unknown>
}

/**
 * Builds the body of a call: `--body`, then fixed fields, then flags, then `--unset`, then the password. Prompts for
 * missing required fields on a terminal. Throws a UsageError otherwise, and if an update would change nothing.
 */
export async function makeBody(
  context: Context,
  given: Given,
  sources: BodySources,
): Promise<Record<string, unknown>> {
  const { operation, flags, fixed } = sources
  const withPassword = sources.password === 'always' || given.flags[passwordFlag.name] === true
  if (withPassword) assertInputFree(given)
  const body = await startingBody(context, given, operation)
  Object.assign(body, fixed)
  for (const { place, flag } of flags) {
    const value = given.flags[flag.name]
    if (value === undefined) continue
    const read =
      flag.kind === 'json'
        ? readJsonOrDocument(context.io, String(value), `--${flag.name}`)
        : meant(flag, value)
    setAt(body, place.split('.'), await read)
  }
  for (const name of unset(given)) setAt(body, placeOf(name, flags).split('.'), null)
  await askForMissing(context, given, body, sources)
  if (withPassword) body['password'] = await readPassword(context)
  if (operation.merge && Object.keys(body).length === 0) {
    throw new UsageError('Nothing to update', {
      hint: `Specify a field, such as --${flags[0]?.flag.name}, or --body`,
    })
  }
  return body
}

function assertInputFree({ flags }: Given): void {
  if (!/^@?-$/.test(String(flags[bodyFlag.name]))) return
  throw new UsageError(`--${bodyFlag.name} and --${passwordFlag.name} cannot both read standard input`)
}

async function startingBody(
  { io }: Context,
  given: Given,
  operation: Call,
): Promise<Record<string, unknown>> {
  const source = given.flags[bodyFlag.name]
  if (source === undefined) return {}
  const document = await readDocument(io, String(source), `--${bodyFlag.name}`)
  if (!isJsonObject(document)) throw new UsageError('--body must be an object')
  if (operation.merge) return { ...document }
  const { readOnlyFields } = await import('./shape.ts')
  const readOnly = readOnlyFields(operation)
  return Object.fromEntries(Object.entries(document).filter(([field]) => !readOnly.includes(field)))
}

function unset(given: Given): readonly string[] {
  const names = given.flags[unsetFlag.name]
  return Array.isArray(names) ? names.map(String) : []
}

function placeOf(name: string, flags: readonly BoundFlag[]): string {
  const found = flags.find(({ place, flag }) => flag.name === name || place === name)
  if (found) return found.place
  const valid = flags.map(({ flag }) => flag.name)
  throw new UsageError(`Unknown field for --unset: ${JSON.stringify(name)}`, {
    why: [`Fields: ${valid.join(', ')}`],
    choice: { given: name, valid },
  })
}

async function askForMissing(
  context: Context,
  given: Given,
  body: Record<string, unknown>,
  { flags, answers }: BodySources,
) {
  const { prompts } = context
  const fromDocument = given.flags[bodyFlag.name] !== undefined
  for (const [place, answer] of answers) setAt(body, place.split('.'), answer)
  const missing = flags.filter(({ place, flag }) => flag.required && valueAt(body, place) === undefined)
  // A missing field may be misspelt in the document: the server reports both together.
  if (fromDocument && prompts.refusal !== null) return
  if (missing.length > 0 && prompts.refusal !== null) {
    const names = missing.map(({ flag }) => `--${flag.name}`).join(', ')
    throw new UsageError(`${names} ${missing.length === 1 ? 'is' : 'are'} required`, {
      code: 'missing_value',
      why: [prompts.refusal],
    })
  }
  const beside = missing.length > 0 || given.isPrompted || answers.size > 0
  const asked = ({ place, flag }: BoundFlag) =>
    beside && flag.asked && !fromDocument && prompts.refusal === null && valueAt(body, place) === undefined
  for (const bound of flags) {
    if (!missing.includes(bound) && !asked(bound)) continue
    const { place, flag } = bound
    const answer = meant(flag, await answerFor(context, flag))
    answers.set(place, answer)
    setAt(body, place.split('.'), answer)
  }
}

/** Prompts for the value of a flag: one of its choices, an existing thing, or text. */
async function answerFor(context: Context, flag: Flag): Promise<unknown> {
  const { prompts } = context
  const question = `${flag.summary}:`
  if (flag.choices) return prompts.choice(question, flag.choices)
  const { pickThing, pickedNouns } = await import('../command/pick-thing.ts')
  const noun = pickedNouns[flag.name]
  if (noun)
    return pickThing(
      context,
      noun,
      flag.name.replace(/^\w/, (letter) => letter.toUpperCase()),
    )
  const check = (text: string) => faultOf(flag, text) ?? true
  return parseFlag(flag, await prompts.text(question, check, flag.asked && flag.default), undefined)
}

/** Returns a value in the API's form. */
function meant(flag: Flag, value: unknown): unknown {
  return flag.none && value === noneText ? null : value
}

/** Returns the reason why text is not a valid value of the flag; null if it is valid. */
function faultOf(flag: Flag, text: string): string | null {
  try {
    parseFlag(flag, text, undefined)
    return null
  } catch (error) {
    if (error instanceof UsageError) return error.message
    throw error
  }
}
