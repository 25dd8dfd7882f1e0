import type { Caller } from '../../client/caller.ts'
import { NotOfferedError } from '../../client/errors.ts'
import type { JsonObject } from '../../codec/json-text.ts'
import { parseReference } from '../../codec/reference.ts'
import { platformName } from '../../config/target.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Context } from '../command/context.ts'
import { type Dataset, RecordError, type ReferredName, referredNouns } from '../dataset/dataset.ts'
import { loadDataset } from '../dataset/load-dataset.ts'
import { isLearnctlServer } from '../session/learnctl-server.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'
import { note } from '../terminal/io.ts'
import { type Checked, checkFile, readRows } from './check-rows.ts'
import { type Finder, inWholeList, oneByOne } from './finder.ts'
import type { ImportFile } from './sources/file.ts'
import type { FileMapping } from './sources/mapping.ts'
import type { Row, Rows } from './sources/rows.ts'
import { idPrinter, type OnExists, openWriter, sourceOf, type Writer } from './write.ts'

export interface Import extends FileMapping {
  readonly dataset: Dataset
  readonly file: ImportFile
  readonly onExists: OnExists
  readonly skipInvalid: boolean
  /** Maximum rows in one request, if the platform takes several. */
  readonly batchSize: number
  readonly errorsFile: string
  /** True if the user named the file, and so wants it replaced. */
  readonly isErrorsFileNamed: boolean
  /** Keeps the mapping, once all rows are checked. */
  readonly saveMapping: () => Promise<void>
}

export interface CheckedImport extends Checked {
  /** True if another run makes no record twice. */
  readonly isRepeatable: boolean
  readonly rowsOf: () => Promise<Rows>
}

/** Checks all rows against the contract, before anything is sent. */
export async function checkImport(context: Context, wanted: Import): Promise<CheckedImport> {
  const { dataset, file, onExists, skipInvalid } = wanted
  // Durations count back from one time, however often the rows are read.
  const now = context.io.now()
  const rowsOf = () => readRows(file, dataset, { ...wanted, now })
  const { session, io } = context
  const isOurs =
    session.target().kind === 'local' || (await isLearnctlServer(await session.caller(), io.signal))
  const partial = onExists === 'update'
  const options = { partial, isOurs, skipInvalid }
  const checked = await checkFile(file.name, dataset, await rowsOf(), options)
  const { keyless, trimmed } = checked
  if (keyless > 0 && (isOurs || onExists !== 'fail')) {
    const [which, them] = keyless === 1 ? ['1 row has', 'one'] : [`${keyless} rows have`, 'theirs']
    if (!isOurs) throw unrecognised(`${which} no externalId`, session)
    await note(
      io,
      `${which} no externalId, and ${them} is made of the file and the line: the same file makes no second record`,
    )
  }
  if (trimmed.rows > 0) {
    const rows = trimmed.rows === 1 ? '1 row has' : `${trimmed.rows} rows have`
    const names = [...trimmed.columns].join(', ')
    await note(context.io, `${rows} spaces around a value, which are left out: ${names}`)
  }
  await wanted.saveMapping()
  const isRepeatable = isOurs || onExists !== 'fail'
  return {
    ...checked,
    isRepeatable,
    rowsOf: isOurs ? async () => withKeys(await rowsOf(), wanted) : rowsOf,
  }
}

/** Returns the error for rows that another platform cannot recognise, where the same file would create them again. */
function unrecognised(which: string, session: Context['session']): UsageError {
  const message = `${which}, by which ${platformName(session.target())} could recognise records that exist`
  return new UsageError(`${message}; nothing was sent`, {
    hint: 'Add the column externalId, or create a new record from each row: --on-exists fail',
  })
}

/**
 * Returns rows of which each has a key, so that an import that is run again recognises what it made: a row without an external
 * id gets one made of the file and its line.
 */
function withKeys({ rows, ...others }: Rows, { dataset, file }: Import): Rows {
  const isKeyed = dataset.keys.some((fields) => fields.join() !== 'externalId')
  return { ...others, rows: isKeyed ? rows : keyed() }

  async function* keyed(): AsyncGenerator<readonly Row[]> {
    for await (const some of rows) {
      yield some.map((row) => {
        if (typeof row.record['externalId'] === 'string') return row
        const externalId = `${file.hash.slice(0, 12)}-${row.line}`
        return { ...row, record: { ...row.record, externalId } }
      })
    }
  }
}

export interface Sending extends Writer {
  readonly dataset: Dataset
  readonly onExists: OnExists
  /** True for a learnctl server: it resolves references, takes batches, and repeats its answer to an Idempotency-Key. */
  readonly isOurs: boolean
  /** Null for a platform that does not list records. */
  readonly finder: Finder | null
  /** Replaces references that another platform may not know by ids. Throws a RecordError for one that it does not show. */
  readonly resolve: (record: JsonObject) => Promise<JsonObject>
}

const maxRequests = 8

/** Throws a CommandError if rows would change records that the platform does not list. */
export async function openSending(context: Context, { dataset, file, onExists }: Import): Promise<Sending> {
  const { io, session } = context
  const writing = await openWriter({ io, session }, maxRequests, {
    command: `${dataset.name} import`,
    source: sourceOf([file.name]),
  })
  const { caller, signal } = writing
  const isOurs = await isLearnctlServer(caller, signal)
  const finder = isOurs ? oneByOne(caller, dataset, signal) : await finderElsewhere(caller, dataset, signal)
  if (finder === null && onExists !== 'fail') throw notListed(session, dataset)
  return {
    ...writing,
    ...{ dataset, onExists, isOurs, finder },
    printIds: idPrinter(context),
    resolve: isOurs ? async (record) => record : referenceResolver(caller, dataset, signal),
  }
}

/** Null for a platform that does not list the records; those that are set as a whole need no list. */
async function finderElsewhere(
  caller: Caller,
  dataset: Dataset,
  signal: AbortSignal,
): Promise<Finder | null> {
  const { list, update } = dataset.operations
  if (update === undefined) return oneByOne(caller, dataset, signal)
  try {
    // The first page shows whether there is a list.
    for await (const _ of caller.pages<Operation>(list, { signal })) break
    return await inWholeList(caller, dataset, signal)
  } catch (error) {
    if (error instanceof NotOfferedError) return null
    throw error
  }
}

function notListed(session: Context['session'], { noun, operations: { list } }: Dataset): CommandError {
  const message = `${platformName(session.target())} cannot look up ${noun}s, so existing ones cannot be recognised`
  return new CommandError('not_offered', 'failure', message, {
    why: [`It does not support ${list.method} ${list.path}; nothing was sent`],
    hint: 'Create a new record from each row: --on-exists fail',
  })
}

/** `ext:` and `email:` become ids that the lists of another platform show; each list is read once. */
function referenceResolver(caller: Caller, { references }: Dataset, signal: AbortSignal): Sending['resolve'] {
  const finders = new Map<ReferredName, Promise<Finder | null>>()

  async function idOf(field: string, to: ReferredName, reference: string): Promise<string> {
    const { by, value } = parseReference(reference)
    if (by === 'id') return reference
    const finder =
      finders.get(to) ?? loadDataset(to).then((dataset) => finderElsewhere(caller, dataset, signal))
    finders.set(to, finder)
    const match = await (await finder)?.find({ [by === 'ext' ? 'externalId' : 'email']: value })
    if (match?.shown) return String(match.shown['id'])
    const noun = referredNouns[to]
    throw new RecordError(
      field,
      match ? `${noun} ${reference} not found` : `${noun} ${reference} cannot be looked up here; use its id`,
    )
  }

  return async (record) => {
    const resolved: Record<string, unknown> = { ...record }
    for (const [field, to] of Object.entries(references)) {
      const value = record[field]
      if (typeof value === 'string') resolved[field] = await idOf(field, to, value)
    }
    return resolved
  }
}
