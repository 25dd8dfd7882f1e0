import type { AnyInput } from '../../client/call.ts'
import { ApiError, isAboutRecord, ProtocolError, RequestError } from '../../client/errors.ts'
import { escapeHidden } from '../../codec/display-text.ts'
import { isJsonObject } from '../../codec/json-text.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Given } from '../command/command.ts'
import { confirm, type Question } from '../command/confirm.ts'
import type { Context } from '../command/context.ts'
import { type Failure, failureOf } from '../failures.ts'
import { hasChosenForm } from '../output/output.ts'
import { createPacing, type Pacing } from '../session/pacing.ts'
import { CommandError, exitCode, UsageError } from '../terminal/errors.ts'
import { pluralise } from '../terminal/format-text.ts'
import { readFileText, readInput } from '../terminal/text-input.ts'
import { showRequests } from './dry-run.ts'
import { createLookup, type Lookup } from './lookup.ts'
import { bodyFlag, idsFlag, ifNotExistsFlag, ifVersionFlag, upsertFlag } from './operation-flags.ts'
import type { BoundCall } from './operation-spec.ts'
import { assertSecretShown, prepareCall } from './prepare-call.ts'
import { printAnswer } from './print-answer.ts'
import { withSources } from './refused-call.ts'

/** Maximum concurrent requests. */
const maxConcurrent = 8
/** Maximum names in a question. */
const maxNames = 3

/** A refused thing and the reason. */
interface Refused {
  readonly argument: string
  readonly error: unknown
}

/**
 * Makes a call for each of several things, concurrently, and prints the results in the given order. All are tried;
 * throws a CommandError that names all refused things, or the fault itself if only one thing was given. A fault that
 * does not concern a thing, such as a refused credential, ends the run.
 */
export async function runSeveral(context: Context, given: Given, call: BoundCall): Promise<void> {
  const { io, session, settings, output } = context
  const { spec } = call
  const operation: Operation = call.operation
  const [position] = call.positions
  if (!position || spec.several === undefined) throw new TypeError(`${spec.name} takes one thing`)
  const [parameter, { name }] = position
  assertForAll(given)
  const things = await thingsGiven(context, given, call)
  const one = (argument: string): Given => ({
    ...given,
    arguments: { ...given.arguments, [name]: argument },
    rest: [argument],
  })
  if (things.length === 0) {
    if (!settings.quiet.value) await output.note('Nothing to do: no ids were given')
  }

  const pacing = createPacing(maxConcurrent, (ms) => io.sleep(ms, io.signal))
  const caller = await session.caller({ onWait: ({ waitMs }) => pacing.slowDown(waitMs) })
  const prepared = await prepareCall(context, one(things[0] ?? ''), call)
  const { shape, secret } = prepared
  if (secret !== undefined) assertSecretShown(context, secret, shape)
  const find = await spec.finds?.({ context, caller })
  const inputFor = async (thing: string): Promise<AnyInput> => {
    const { input } = prepared
    const value = (await find?.(one(thing))) ?? thing
    return parameter === spec.subject?.field
      ? { ...input, body: { ...(isJsonObject(input.body) ? input.body : {}), [parameter]: value } }
      : { ...input, params: { ...input.params, [parameter]: value } }
  }
  if (settings.dryRun.value) {
    const requests = []
    for (const thing of things) requests.push(caller.request(operation, await inputFor(thing)))
    // For tables print a line per thing; the requests are for programs and --debug.
    if (settings.debug.value || settings.output.value !== 'table')
      return showRequests(context, requests, true)
    const noun = spec.several.replace(/s$/, '')
    const lines = things.map((thing) => `Would ${verbOf(spec.name)} ${noun} ${escapeHidden(thing)}\n`)
    return output.text(lines.join(''))
  }
  if (things.length > 0) await confirmAll(context, given, call, createLookup(caller, io.signal), things)

  const isSearched = [ifNotExistsFlag, upsertFlag].some(({ name }) => given.flags[name] === true)
  const refused: Refused[] = []
  let fault: Refused | null = null
  let done = 0
  const asRecords = hasChosenForm(settings) && !settings.quiet.value && operation.response !== null

  /** Prints the success lines, or yields the records, in the order of the things. */
  async function* records(): AsyncGenerator<readonly unknown[]> {
    const work = async (thing: string) => {
      const input = await inputFor(thing)
      // Things that may exist already are looked up and created one after the other.
      return { input, result: isSearched ? null : await caller.write(operation, input) }
    }
    for await (const settled of inOrder(things, work, pacing, isFatal)) {
      const rows: unknown[] = []
      try {
        if ('error' in settled) throw settled.error
        const collect = asRecords ? { collect: (record: unknown) => rows.push(record) } : {}
        const given = one(settled.item)
        const { input, result } = settled.value
        const readied = { ...prepared, input, ...collect }
        if (result) await printAnswer(context, given, call, { ...readied, result })
        else await (await import('./create-or-find.ts')).createOrFind(context, given, call, caller, readied)
        done += 1
      } catch (error) {
        const failed = { argument: settled.item, error }
        if (isFatal(error)) fault ??= failed
        else refused.push(failed)
      }
      if (rows.length > 0) yield rows
    }
  }

  if (asRecords) await output.list(records(), shape)
  else for await (const _ of records());

  const failures = refused.map((each) => ({ ...each, failure: failureFor(context, given, call, each) }))
  if (fault !== null) {
    for (const { argument, failure } of failures) await output.note(`${argument}: ${failure.message}`)
    if (things.length > 1) {
      await output.note(
        `Stopped after ${done} of ${things.length} ${spec.several}; the error is about all of them`,
      )
    }
    // The compiler does not see the assignment inside the generator.
    throw (fault as Refused).error
  }
  const [first] = refused
  if (!first) return
  if (things.length === 1) throw withSources(first.error, call, one(first.argument))
  throw partialError(spec.name, spec.several, things.length, failures)
}

/** Throws a UsageError for flags that apply to a single thing, and if both read standard input. */
function assertForAll({ flags }: Given): void {
  if (flags[ifVersionFlag.name] !== undefined) {
    throw new UsageError(`--${ifVersionFlag.name} is only supported for one thing at a time`)
  }
  if (/^@?-$/.test(String(flags[idsFlag.name])) && /^@?-$/.test(String(flags[bodyFlag.name]))) {
    throw new UsageError(`--${idsFlag.name} and --${bodyFlag.name} cannot both read standard input`)
  }
}

/** Returns the distinct given things. */
async function thingsGiven(context: Context, given: Given, call: BoundCall): Promise<readonly string[]> {
  const source = given.flags[idsFlag.name]
  const read =
    source === undefined ? [] : await readIds(context, String(source), call.positions[0]?.[0] ?? '')
  return [...new Set([...given.rest, ...read])]
}

/** Asks for a single confirmation with the number of things and the first names. */
async function confirmAll(
  context: Context,
  given: Given,
  { spec: { destroys, name, several = '' } }: BoundCall,
  look: Lookup,
  things: readonly string[],
): Promise<void> {
  if (!destroys) return
  const verb = verbOf(name)
  const count = pluralise(things.length, several.replace(/s$/, ''))
  await confirm(context, `${verb} ${count}`, async (): Promise<Question> => {
    const { consequence, irreversible = false } = (await destroys.several?.(look, given)) ?? {
      consequence: '',
    }
    const more = things.length - maxNames
    const names = things.slice(0, maxNames).join(', ')
    return {
      text: `${verb.charAt(0).toUpperCase()}${verb.slice(1)} ${count} (${names}${more > 0 ? ` and ${more} more` : ''})`,
      consequence,
      ...(irreversible && { typed: String(things.length) }),
    }
  })
}

/** Returns `revoke` for `grants revoke`. */
function verbOf(name: string): string {
  return name.split(' ').at(-1) ?? name
}

/** True for an error that every thing would meet, and so does not concern a single one. */
function isFatal(error: unknown): boolean {
  if (error instanceof ApiError)
    return ![400, 403, 404, 409, 412, 422].includes(error.status) || isExpired(error)
  if (error instanceof ProtocolError || error instanceof RequestError) return !isAboutRecord(error)
  return !(error instanceof CommandError) || error.exit === 'interrupted'
}

function isExpired({ code }: ApiError): boolean {
  return code === 'expired_key' || code === 'insufficient_scope'
}

function failureFor(context: Context, given: Given, call: BoundCall, { argument, error }: Refused): Failure {
  const [position] = call.positions
  const one = { ...given, arguments: { ...given.arguments, [position?.[1].name ?? '']: argument } }
  return failureOf(withSources(error, call, one), context.session.target())
}

interface NamedFailure {
  readonly argument: string
  readonly failure: Failure
}

/** Returns the error of a command that succeeded only in part. */
function partialError(
  name: string,
  several: string,
  total: number,
  failures: readonly NamedFailure[],
): CommandError {
  const hints = new Set(failures.map(({ failure }) => failure.hint))
  const [hint] = hints
  return new CommandError(
    'partial',
    'partial',
    `Cannot ${verbOf(name)} ${failures.length} of ${total} ${several}`,
    {
      why: failures.map(({ argument, failure: { message, why } }) =>
        [`${argument}: ${message}`, ...why].join('; '),
      ),
      details: failures.map(({ argument, failure: { code, exit, message } }) => ({
        argument,
        code,
        exitCode: exitCode(exit),
        message,
      })),
      ...(hints.size === 1 && hint && { hint }),
    },
  )
}

/** Commands that list the ids of a path parameter. */
const listOf: Readonly<Record<string, string>> = {
  courseId: 'courses',
  lessonId: 'lessons',
  userId: 'users',
  learnerId: 'users',
  enrollmentId: 'enrollments',
  keyId: 'keys',
  clientId: 'apps',
  grantId: 'auth grants',
  gradeId: 'grades',
}

/**
 * Reads ids from a file, or from standard input for `-`: one per line, as `--quiet` prints them. Throws a UsageError
 * that names the line of an invalid id.
 */
async function readIds({ io }: Pick<Context, 'io'>, source: string, parameter: string): Promise<string[]> {
  // Accept `@file` like `--body`.
  const path = source.replace(/^@/, '')
  const name = path === '-' ? 'Standard input' : path
  const text = path === '-' ? await readInput(io) : await readFileText(io, path)
  return text.split('\n').flatMap((line, index) => {
    const id = line.trim()
    if (!/^[[{"]|\t/.test(id)) return id === '' ? [] : [id]
    throw new UsageError(`${name}, line ${index + 1}: not an id: ${JSON.stringify(short(id))}`, {
      hint: `Print ids alone: learnctl ${listOf[parameter] ?? '…'} list -q`,
    })
  })
}

function short(text: string): string {
  return text.length > 60 ? `${text.slice(0, 59)}…` : text
}

/** Result of the work for one item. */
type Settled<Item, Value> =
  | { readonly item: Item; readonly value: Value }
  | { readonly item: Item; readonly error: unknown }

/** Maximum results that wait for an earlier one. */
const maxWaiting = 256

/**
 * Works on items concurrently, at a given pace, and yields the results in the order of the items. After a `fatal`
 * error no further work starts; results of started work are still yielded.
 */
async function* inOrder<Item, Value>(
  items: readonly Item[],
  work: (item: Item) => Promise<Value>,
  pacing: Pacing,
  fatal: (error: unknown) => boolean,
): AsyncGenerator<Settled<Item, Value>> {
  const waiting: { settled: Settled<Item, Value> | null; readonly done: Promise<void> }[] = []
  let stopped = false

  for (const item of items) {
    if (stopped) break
    const { promise, resolve } = Promise.withResolvers<void>()
    const place: (typeof waiting)[number] = { settled: null, done: promise }
    waiting.push(place)
    await pacing.run(async () => {
      try {
        place.settled = { item, value: await work(item) }
      } catch (error) {
        place.settled = { item, error }
        stopped ||= fatal(error)
      }
      resolve()
    })
    if (waiting.length >= maxWaiting) await waiting[0]?.done
    while (waiting[0]?.settled) {
      yield waiting[0].settled
      waiting.shift()
    }
  }
  for (const place of waiting) {
    await place.done
    if (place.settled) yield place.settled
  }
}
