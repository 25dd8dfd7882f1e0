import { basename } from 'node:path'
import type { Caller } from '../../client/caller.ts'
import { escapeHidden } from '../../codec/display-text.ts'
import { isJsonObject, type JsonObject, jsonText } from '../../codec/json-text.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Context } from '../command/context.ts'
import type { Dataset } from '../dataset/dataset.ts'
import { createNames, type Names } from '../dataset/names.ts'
import type { BulkChange } from '../session/bulk-change.ts'
import { createPacing, type Pacing } from '../session/pacing.ts'
import { CommandError } from '../terminal/errors.ts'
import { pluralise } from '../terminal/format-text.ts'

export interface Writer {
  readonly caller: Caller
  readonly names: Names
  readonly notes: WriteNotes
  readonly signal: AbortSignal
  /** Slows down when the platform asks for that. */
  readonly pacing: Pacing
  /** Prints the ids of records that were made or changed; null without `--quiet`. */
  readonly printIds?: ((ids: readonly unknown[]) => Promise<void>) | null
}

/**
 * Opens a platform for writing; a local academy handles one request at a time.
 *
 * @param change what makes the writes, so that they can be undone together; none for reading only
 */
export async function openWriter(
  { session, io: { signal, sleep } }: Pick<Context, 'session' | 'io'>,
  concurrency = 1,
  change?: BulkChange,
): Promise<Writer> {
  const maximum = session.target().kind === 'local' ? 1 : concurrency
  const pacing = createPacing(maximum, (ms) => sleep(ms, signal))
  const caller = await session.caller({
    change,
    onWait: ({ waitMs }) => pacing.slowDown(waitMs),
  })
  const names = createNames(caller, signal)
  return {
    ...{ caller, names, signal, pacing },
    notes: createWriteNotes(),
  }
}

/** Returns the source of a change that is made from files: the name of the only one, else their number. */
export function sourceOf(files: readonly string[]): string {
  const [first = ''] = files
  return files.length === 1 ? basename(first) : pluralise(files.length, 'file')
}

/** Prints each once; null without `--quiet`. */
export function idPrinter({
  settings,
  output,
}: Pick<Context, 'settings' | 'output'>): NonNullable<Writer['printIds']> | null {
  if (!settings.quiet.value) return null
  const printed = new Set<string>()
  return async (ids) => {
    const fresh = ids.flatMap((id) => {
      if (typeof id !== 'string' || printed.has(id)) return []
      printed.add(id)
      return [`${escapeHidden(id)}\n`]
    })
    if (fresh.length > 0) await output.text(fresh.join(''))
  }
}

/** Undefined if the platform has none. */
export function versionOf(shown: unknown): number | undefined {
  const version = isJsonObject(shown) ? shown['version'] : undefined
  return typeof version === 'number' ? version : undefined
}

export type OnExists = 'update' | 'skip' | 'fail'

export interface Refusal {
  readonly code: string
  readonly detail: string
  readonly faults: readonly {
    readonly pointer?: unknown
    readonly parameter?: unknown
    readonly detail?: unknown
  }[]
}

/** A failed record changed nothing. */
export type Outcome =
  | {
      readonly kind: 'created' | 'updated' | 'unchanged' | 'skipped'
      readonly warning?: string | null
      /** Set only for one of several in a batch. */
      readonly id?: string
    }
  | ({ readonly kind: 'failed' } & Refusal)

/**
 * Sends records in one request; the server validates each separately. Throws a CommandError if results are missing.
 */
export async function writeBatch(
  { caller, signal, printIds }: Pick<Writer, 'caller' | 'signal' | 'printIds'>,
  { name, operations: { batch } }: Dataset,
  items: readonly JsonObject[],
  onExists: OnExists,
): Promise<readonly Outcome[]> {
  if (!batch) throw new TypeError(`${name} have no batch`)
  const { data } = await caller.call<Operation>(batch, { body: { items, onExists }, signal })
  const results: unknown = isJsonObject(data) ? data['results'] : undefined
  const count = Array.isArray(results) ? results.length : 0
  if (Array.isArray(results) && count === items.length) {
    await printIds?.(results.flatMap((result) => (isDone(result) ? [result['id']] : [])))
    return results.map(resultOf)
  }
  throw new CommandError(
    'invalid_response',
    'failure',
    `The platform returned ${count} results for ${items.length} records`,
    { why: [`${batch.method} ${batch.path}`] },
  )
}

function isDone(result: unknown): result is JsonObject {
  if (!isJsonObject(result)) return false
  const { status, code } = result
  return Number(status) < 400 && code !== 'unchanged' && code !== 'skipped'
}

function resultOf(result: unknown): Outcome {
  const { status, code, detail, errors, id } = isJsonObject(result) ? result : {}
  if (typeof status !== 'number' || status >= 400) {
    const faults = Array.isArray(errors) ? errors.filter(isJsonObject) : []
    return { kind: 'failed', code: String(code ?? 'failed'), detail: String(detail ?? 'was refused'), faults }
  }
  const warning = code === 'unweighted' || code === 'several_maxima' ? String(detail) : null
  const named = typeof id === 'string' ? { warning, id } : { warning }
  if (code === 'skipped' || code === 'unchanged') return { kind: code, ...named }
  return { kind: status === 201 ? 'created' : 'updated', ...named }
}

/** Keeps requests below a usual server limit (1 MiB of JSON). */
export interface BatchSize {
  readonly records: number
  readonly characters: number
}

export const batchSize: BatchSize = { records: 500, characters: 700_000 }

interface Batcher<Item> {
  /** Returns the previous batch if it was full. */
  add(item: Item): readonly Item[] | null
  /** Resets the batch. */
  rest(): readonly Item[]
}

export function createBatcher<Item>(size: BatchSize, bodyOf: (item: Item) => JsonObject): Batcher<Item> {
  let held: Item[] = []
  let characters = 0
  function rest(): Item[] {
    const full = held
    held = []
    characters = 0
    return full
  }
  return {
    add(item) {
      const length = size.records === 1 ? 0 : jsonText(bodyOf(item)).length + 1
      const isFull = held.length >= size.records || characters + length > size.characters
      const full = held.length > 0 && isFull ? rest() : null
      held.push(item)
      characters += length
      return full
    },
    rest,
  }
}

interface WriteNotes {
  add(sentence: string): void
  /** The first warnings, and the number of the others. */
  sentences(): readonly string[]
}

const maxAdded = 20

function createWriteNotes(): WriteNotes {
  const added: string[] = []
  return {
    add: (sentence) => void added.push(sentence),
    sentences: () => [
      ...added.slice(0, maxAdded),
      ...(added.length > maxAdded ? [`${pluralise(added.length - maxAdded, 'more warning')}`] : []),
    ],
  }
}
