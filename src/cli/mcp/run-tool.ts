import { createHash, randomBytes } from 'node:crypto'
import { escapeHidden, formatCount, shellWord } from '../../codec/display-text.ts'
import { isJsonObject, type JsonObject, jsonText } from '../../codec/json-text.ts'
import { systemCode } from '../../config/errors.ts'
import type { Host } from '../command/command.ts'
import { pickedNouns } from '../command/pick-thing.ts'
import { failureOf } from '../failures.ts'
import { CommandError, exitCode, HelpShown } from '../terminal/errors.ts'
import type { Io } from '../terminal/io.ts'
import {
  assertPlacesOfPeople,
  assertWords,
  type CheckedLine,
  checkLine,
  type LineRules,
  type SharedFolder,
} from './check-line.ts'
import { loadOffered, namedValues, type OfferedCommand } from './offered-commands.ts'
import { PeopleMap } from './private-text.ts'
import { ResultView, withoutHeaders } from './result-view.ts'
import { errorResult, planMs, planResult, type RunResult, resultOf, runLine, textResult } from './run-line.ts'
import type { CallParts } from './serve-messages.ts'

interface RunOptions {
  readonly allowWrites: boolean
  /** Shows names instead of pseudonyms. */
  readonly showNames: boolean
  readonly folder: SharedFolder | null
  /** Global flags of each run, such as `--profile school`. */
  readonly globalFlags: readonly string[]
  readonly stateDirectory: string
  /** Includes the profile. */
  readonly targetName: () => string
}

const maxLookups = 5

/** Runs one command at a time. */
export class RunTool {
  readonly #io: Io
  readonly #host: Host
  readonly #options: RunOptions
  readonly #plans = new WritePlans()
  readonly #people = new Map<string, PeopleMap>()
  #offered: Promise<ReadonlyMap<string, OfferedCommand>> | null = null
  #last: Promise<unknown> = Promise.resolve()

  constructor(io: Io, host: Host, options: RunOptions) {
    this.#io = io
    this.#host = host
    this.#options = options
  }

  offered(): Promise<ReadonlyMap<string, OfferedCommand>> {
    this.#offered ??= loadOffered(this.#host).then(
      (all) => new Map(all.map((offered) => [offered.path, offered])),
    )
    return this.#offered
  }

  /** Plans, or with the digest of a plan carries it out. */
  async call({ argv, confirm }: JsonObject, { signal, ask }: CallParts): Promise<JsonObject> {
    const before = this.#last
    const run = before.then(() => this.#checked(argv, { confirm, signal, ask }))
    this.#last = run.catch(() => {})
    return run
  }

  async #checked(
    argv: unknown,
    { confirm, signal, ask }: CallParts & { readonly confirm: unknown },
  ): Promise<JsonObject> {
    let view = new ResultView(null)
    try {
      signal.throwIfAborted()
      assertWords(argv)
      const target = this.#options.targetName()
      view = this.#viewOf(target)
      const rules = await this.#rules()
      const line = await checkLine(view.translate(argv), rules)
      if (!this.#options.showNames) assertPlacesOfPeople(await rules.parseLine(argv), line.offered)
      view.use(line, argv)
      return saved(await this.#run(line, { view, target, argv, confirm, signal, ask }), view)
    } catch (error) {
      if (error instanceof HelpShown) return textResult(error.message)
      const { code, exit, message, why, hint } = failureOf(error, null)
      const fault = { code, message, hint, details: why.map((message) => ({ message })) }
      return saved(errorResult(exitCode(exit), view.error(fault)), view)
    }
  }

  async #run(line: CheckedLine, call: RunCall): Promise<JsonObject> {
    const { view, target, argv, confirm, signal } = call
    if (line.offered.offer.access === 'read' || line.isDryRun) {
      return resultOf(await this.#execute(line, [], call), view, line)
    }
    const write = { argv, target, fileDigests: line.fileDigests }
    if (confirm === undefined) {
      const dry = await this.#execute(line, ['--dry-run'], call)
      if (dry.exitCode !== 0 && dry.exitCode !== exitCode('drift')) return resultOf(dry, view, line)
      const affected = await this.#affected(line, call)
      signal.throwIfAborted()
      const planned = { preview: previewOf(line, dry), steps: dry.records?.length ?? 0, affected }
      return planResult(dry, view, affected, this.#plans.add(write, planned, this.#io.now()))
    }
    const digest = String(confirm)
    const { preview, steps, affected } = this.#plans.find(digest, write, this.#io.now())
    if (call.ask && !(await call.ask(questionOf(argv, steps, affected)))) {
      throw refusal('The user did not agree', 'The client has asked before the plan was carried out')
    }
    this.#plans.use(digest)
    if (preview !== null) {
      const dry = await this.#execute(line, ['--dry-run'], call)
      if (previewOf(line, dry) !== preview) {
        throw refusal('The plan no longer fits', 'Records on the platform have changed since')
      }
    }
    signal.throwIfAborted()
    return resultOf(await this.#execute(line, ['--yes'], call), view, line, affected)
  }

  #execute(
    { argv, invocation: { globals } }: Pick<CheckedLine, 'argv' | 'invocation'>,
    flags: readonly string[],
    { view, signal }: Pick<RunCall, 'view' | 'signal'>,
  ): Promise<RunResult> {
    const format = globals['output'] === undefined ? ['-o', 'jsonl'] : []
    const words = [...this.#options.globalFlags, ...format, '--no-input', ...flags, ...argv]
    return runLine(words, this.#io, this.#host.runApart, { signal, onReply: (text) => view.learn(text) })
  }

  /** Returns the records that the command line names, which a plan shows. */
  async #affected({ invocation, offered }: CheckedLine, call: RunCall): Promise<JsonObject[]> {
    const found: JsonObject[] = []
    for (const [noun, reference] of namedRecords(invocation, offered).slice(0, maxLookups)) {
      const argv = [noun, 'get', '--', reference]
      const { records } = await this.#execute({ argv, invocation: { ...invocation, globals: {} } }, [], call)
      const [record] = records ?? []
      if (isJsonObject(record)) found.push(call.view.identity(noun, record))
    }
    return found
  }

  async #rules(): Promise<LineRules> {
    const { folder, allowWrites } = this.#options
    return { parseLine: this.#host.parseLine, offered: await this.offered(), folder, allowWrites }
  }

  #viewOf(target: string): ResultView {
    if (this.#options.showNames) return new ResultView(null)
    const people = this.#people.get(target) ?? new PeopleMap(this.#options.stateDirectory, target)
    // Before anything runs: a change must not fail after it was carried out.
    people.open()
    this.#people.set(target, people)
    return new ResultView(people)
  }
}

/** Keeps the pseudonyms of a result; one of a change is returned even if they cannot be kept. */
function saved(result: JsonObject, view: ResultView): JsonObject {
  try {
    view.save()
    return result
  } catch (error) {
    const note = `note: Cannot keep the pseudonyms beyond this process: ${systemCode(error) ?? 'the file cannot be written'}`
    const content = Array.isArray(result['content']) ? result['content'] : []
    return { ...result, content: [...content, { type: 'text', text: note }] }
  }
}

function questionOf(argv: readonly string[], steps: number, affected: readonly JsonObject[]): string {
  return [
    `Carry out this change? ${steps === 1 ? '1 step' : `${formatCount(steps)} steps`}:`,
    `learnctl ${argv.map(shellWord).join(' ')}`,
    ...affected.map((record) => jsonText(record)),
  ]
    .map(escapeHidden)
    .join('\n')
}

interface RunCall extends CallParts {
  readonly view: ResultView
  readonly target: string
  readonly argv: readonly string[]
  readonly confirm: unknown
}

/** Null for one operation, whose dry run may have the time in it, and which does not depend on other records. */
function previewOf({ offered }: CheckedLine, { records }: RunResult): string | null {
  return offered.command.calls ? null : previewDigest((records ?? []).map(withoutHeaders))
}

const nounByName: Readonly<Record<string, string>> = {
  ...pickedNouns,
  term: 'terms',
  enrollment: 'enrollments',
}

function namedRecords(
  invocation: CheckedLine['invocation'],
  offered: OfferedCommand,
): (readonly [noun: string, reference: string])[] {
  return namedValues(invocation, offered).flatMap(({ name, text }) => {
    const noun = nounByName[name]
    return noun === undefined ? [] : [[noun, text] as const]
  })
}

interface PlannedWrite {
  readonly argv: readonly string[]
  /** Includes the profile. */
  readonly target: string
  readonly fileDigests: readonly string[]
}

interface Planned {
  /** Digest of what the dry run printed; null if it prints the time. */
  readonly preview: string | null
  readonly steps: number
  /** Records that the command line names, as the assistant sees them. */
  readonly affected: readonly JsonObject[]
}

interface Plan extends Planned {
  readonly content: string
  readonly expiresMs: number
}

class WritePlans {
  readonly #plans = new Map<string, Plan>()

  /** Keeps a plan and returns its digest, which cannot be made from the command line alone. */
  add(write: PlannedWrite, planned: Planned, nowMs: number): string {
    for (const [digest, { expiresMs }] of this.#plans) {
      if (expiresMs <= nowMs) this.#plans.delete(digest)
    }
    const content = contentOf(write)
    const digest = createHash('sha256').update(randomBytes(32)).update(content).digest('hex').slice(0, 32)
    this.#plans.set(digest, { ...planned, content, expiresMs: nowMs + planMs })
    return digest
  }

  /** Throws a CommandError if it has expired, or is for another command line, platform or content of files. */
  find(digest: string, write: PlannedWrite, nowMs: number): Planned {
    const plan = this.#plans.get(digest)
    if (!plan) {
      throw refusal('There is no plan with this digest', 'A digest works once, in the process that made it')
    }
    if (plan.expiresMs <= nowMs) throw refusal('The plan has expired', 'A plan is kept for 10 minutes')
    if (plan.content !== contentOf(write)) {
      throw refusal(
        'The plan is for something else',
        'The words of argv, the platform and the content of files must be the same',
      )
    }
    return plan
  }

  use(digest: string): void {
    this.#plans.delete(digest)
  }
}

function refusal(message: string, why: string): CommandError {
  return new CommandError('not_confirmed', 'conflict', `${message}; nothing was changed`, {
    why: [why],
    hint: 'Call run without confirm for a new plan',
  })
}

function previewDigest(records: unknown): string {
  return createHash('sha256').update(jsonText(records)).digest('hex')
}

function contentOf({ argv, target, fileDigests }: PlannedWrite): string {
  return jsonText([argv, target, fileDigests])
}
