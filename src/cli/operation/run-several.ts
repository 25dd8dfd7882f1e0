import type { AnyInput, Result } from '../../client/call.ts'
import type { Caller } from '../../client/caller.ts'
import { ApiError, isAboutRecord, ProtocolError, RequestError } from '../../client/errors.ts'
import { escapeHidden } from '../../codec/display-text.ts'
import { isJsonObject } from '../../codec/json-text.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Given } from '../command/command.ts'
import { confirm, type Question } from '../command/confirm.ts'
import type { Context } from '../command/context.ts'
import { createLookup, type Lookup } from '../command/lookup.ts'
import { type Failure, failureOf } from '../failures.ts'
import { hasChosenForm } from '../output/output.ts'
import { createPacing, inOrder, type Pacing } from '../session/pacing.ts'
import { CommandError, ExitWith, exitCode, UsageError } from '../terminal/errors.ts'
import { capitalise, firstNames, pluralise } from '../terminal/format-text.ts'
import { readFileText, readInput } from '../terminal/text-input.ts'
import { showRequests } from './dry-run.ts'
import { bodyFlag, idsFlag, ifNotExistsFlag, ifVersionFlag, upsertFlag } from './operation-flags.ts'
import type { BoundCall, Find } from './operation-spec.ts'
import { assertSecretShown, type PreparedCall, prepareCall } from './prepare-call.ts'
import { printAnswer } from './print-answer.ts'
import { nounsByPlace, withSources } from './refused-call.ts'

const maxConcurrent = 8

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
  assertForAll(given)
  const things = await thingsGiven(context, given, call)
  if (things.length === 0 && !settings.quiet.value) {
    await output.note('Nothing to do: no ids were given')
  }
  const pacing = createPacing(maxConcurrent, (ms) => io.sleep(ms, io.signal))
  const [noun] = call.operation.id.split('.')
  const change = { command: `${noun} ${spec.name}`, source: `${things.length} ${spec.several}` }
  const caller = await session.caller({
    onWait: ({ waitMs }) => pacing.slowDown(waitMs),
    ...(things.length > 1 && { change }),
  })
  const prepared = await prepareCall(context, givenOne(call, given, things[0] ?? ''), call)
  const { shape, secret } = prepared
  if (secret !== undefined) assertSecretShown(context, secret, shape)
  const find = await spec.finds?.({ context, caller })
  const run = new SeveralCalls({ context, given, call, caller, prepared, find })
  if (settings.dryRun.value) return run.show(things)
  if (things.length > 0) await confirmAll(context, given, call, createLookup(caller, io.signal), things)

  const asRecords = hasChosenForm(settings) && !settings.quiet.value && call.operation.response !== null
  if (asRecords) await output.list(run.records(things, pacing, true), shape)
  else for await (const _ of run.records(things, pacing, false));
  await run.report(things.length)
}

function givenOne({ positions }: BoundCall, given: Given, argument: string): Given {
  const named = { ...given.arguments, [positions.at(-1)?.[1].name ?? '']: argument }
  return { ...given, arguments: named, rest: [argument] }
}

interface RunParts {
  readonly context: Context
  readonly given: Given
  readonly call: BoundCall
  readonly caller: Caller
  readonly prepared: PreparedCall
  readonly find: Find | undefined
}

class SeveralCalls {
  readonly #parts: RunParts
  readonly #refused: Refused[] = []
  /** First error that does not concern a single thing. */
  #fault: Refused | null = null
  #exit: ExitWith | null = null
  #done = 0
  #existing = 0

  constructor(parts: RunParts) {
    this.#parts = parts
  }

  async show(things: readonly string[]): Promise<void> {
    const { context, call, caller } = this.#parts
    const { settings, output } = context
    const operation: Operation = call.operation
    const requests = []
    for (const thing of things) requests.push(caller.request(operation, await this.#inputFor(thing)))
    if (settings.debug.value || settings.output.value !== 'table')
      return showRequests(context, requests, true)
    const { name, several = '' } = call.spec
    const noun = several.replace(/s$/, '')
    const lines = things.map((thing) => `Would ${verbOf(name)} ${noun} ${escapeHidden(thing)}\n`)
    await output.text(lines.join(''))
  }

  /** Prints the success lines, or yields the records, in the order of the things. */
  async *records(
    things: readonly string[],
    pacing: Pacing,
    asRecords: boolean,
  ): AsyncGenerator<readonly unknown[]> {
    for await (const settled of inOrder(things, (thing) => this.#send(thing), pacing, isFatal)) {
      const rows: unknown[] = []
      try {
        if ('error' in settled) throw settled.error
        await this.#print(settled.item, settled.value, asRecords ? (record) => rows.push(record) : undefined)
        this.#done += 1
      } catch (error) {
        if (error instanceof ExitWith) {
          this.#exit = error
          this.#done += 1
        } else if (isFatal(error)) this.#fault ??= { argument: settled.item, error }
        else this.#refused.push({ argument: settled.item, error })
      }
      if (rows.length > 0) yield rows
    }
  }

  async report(total: number): Promise<void> {
    const { context, given, call } = this.#parts
    const { several = '' } = call.spec
    const failures = this.#refused.map((each) => ({
      ...each,
      failure: failureFor(context, given, call, each),
    }))
    if (this.#fault !== null) {
      for (const { argument, failure } of failures)
        await context.output.note(`${argument}: ${failure.message}`)
      if (total > 1) {
        await context.output.note(
          `Stopped after ${this.#done} of ${total} ${several}; the error is about all of them`,
        )
      }
      throw this.#fault.error
    }
    await this.#noteCounts(total)
    const [first] = this.#refused
    if (!first && this.#exit) throw this.#exit
    if (!first) return
    if (total === 1) throw withSources(first.error, call, givenOne(call, given, first.argument))
    throw partialError(call, total, failures)
  }

  async #noteCounts(total: number): Promise<void> {
    const { context, call } = this.#parts
    if (total < 2 || call.spec.exists === undefined) return
    const counts = {
      created: this.#done - this.#existing,
      'already existed': this.#existing,
      refused: this.#refused.length,
    }
    const some = Object.entries(counts).filter(([kind, count]) => count > 0 || kind === 'created')
    const text = some.map(([kind, count]) => `${count} ${kind}`).join(', ')
    await context.output.done(`${pluralise(total, (call.spec.several ?? '').replace(/s$/, ''))}: ${text}`)
  }

  async #inputFor(thing: string): Promise<AnyInput> {
    const { call, given, prepared, find } = this.#parts
    const { input } = prepared
    const [parameter = ''] = call.positions.at(-1) ?? []
    const value = (await find?.(givenOne(call, given, thing))) ?? thing
    return parameter === call.spec.subject?.field
      ? { ...input, body: { ...(isJsonObject(input.body) ? input.body : {}), [parameter]: value } }
      : { ...input, params: { ...input.params, [parameter]: value } }
  }

  /** Sends the call for a thing; a thing that may exist already is looked up later, one after the other. */
  async #send(thing: string): Promise<Sent> {
    const { call, given, caller } = this.#parts
    const input = await this.#inputFor(thing)
    const isSearched = [ifNotExistsFlag, upsertFlag].some(({ name }) => given.flags[name] === true)
    if (isSearched) return { input, result: null }
    return { input, result: await caller.write<Operation>(call.operation, input) }
  }

  async #print(
    thing: string,
    { input, result }: Sent,
    collect: ((record: unknown) => void) | undefined,
  ): Promise<void> {
    const { context, call, caller, prepared } = this.#parts
    const given = givenOne(call, this.#parts.given, thing)
    const printed = { ...prepared, input, ...(collect && { collect }) }
    if (result) return printAnswer(context, given, call, { ...printed, result })
    const { createOrFind } = await import('./create-or-find.ts')
    if ((await createOrFind(context, given, call, caller, printed)) === 'existing') this.#existing += 1
  }
}

/** The result is null for a thing that is looked up first. */
interface Sent {
  readonly input: AnyInput
  readonly result: Result<unknown> | null
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

async function thingsGiven(context: Context, given: Given, call: BoundCall): Promise<readonly string[]> {
  const source = given.flags[idsFlag.name]
  const read =
    source === undefined ? [] : await readIds(context, String(source), call.positions.at(-1)?.[0] ?? '')
  return [...new Set([...given.rest, ...read])]
}

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
    return {
      text: `${capitalise(verb)} ${count} (${firstNames(things, 3)})`,
      consequence,
      ...(irreversible && { typed: String(things.length) }),
    }
  })
}

function verbOf(name: string): string {
  return name.split(' ').at(-1) ?? name
}

/** An error that every thing would meet. */
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
  return failureOf(withSources(error, call, givenOne(call, given, argument)), context.session.target())
}

function partialError(
  { spec: { name, several = '', exists } }: BoundCall,
  total: number,
  failures: readonly { readonly argument: string; readonly failure: Failure }[],
): CommandError {
  const isTaken = exists !== undefined && failures.some(({ failure }) => failure.code === 'duplicate')
  const keepHint = isTaken ? `To leave existing ${several} as they are: --${ifNotExistsFlag.name}` : undefined
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
      ...(hints.size === 1 && hint ? { hint } : keepHint && { hint: keepHint }),
    },
  )
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
    const short = id.length > 60 ? `${id.slice(0, 59)}…` : id
    throw new UsageError(`${name}, line ${index + 1}: not an id: ${JSON.stringify(short)}`, {
      hint: `Print ids alone: learnctl ${nounsByPlace[parameter] ?? '…'} list -q`,
    })
  })
}
