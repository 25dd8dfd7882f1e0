import type { Caller } from '../../client/caller.ts'
import { ApiError, NotOfferedError, ProtocolError } from '../../client/errors.ts'
import type { JsonObject } from '../../codec/json-text.ts'
import { parseReference } from '../../codec/reference.ts'
import { platformName } from '../../config/target.ts'
import type { Call } from '../../contract/calls.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Context } from '../command/context.ts'
import type { Dataset, ReferredName } from '../dataset/dataset.ts'
import { loadDataset } from '../dataset/load-dataset.ts'
import { isLearnctlServer } from '../session/learnctl-server.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'
import { note } from '../terminal/io.ts'
import { type Checked, checkFile } from './check-rows.ts'
import type { Putting } from './create-or-update.ts'
import { byLists, type Finder, oneByOne } from './finder.ts'
import type { ImportFile } from './sources/file.ts'
import { givenRows } from './sources/json.ts'
import type { FileMapping } from './sources/mapping.ts'
import { readRows } from './sources/read-rows.ts'
import type { Row, Rows } from './sources/rows.ts'
import { idPrinter, type OnExists, openWriter, sourceOf } from './write.ts'

export interface Import extends FileMapping {
  readonly dataset: Dataset
  readonly file: ImportFile
  readonly onExists: OnExists
  readonly skipInvalid: boolean
  /** Maximum rows in one request, if the platform takes several. */
  readonly batchSize: number
  /** File for rejected rows. */
  readonly errorsFile: string
  /** True if the user named it, and so wants it replaced. */
  readonly isErrorsFileNamed: boolean
  /** Keeps the mapping, once all rows are checked. */
  readonly saveMapping: () => Promise<void>
  /** Command and rows of the saved plan that the file is; null for a file of records. */
  readonly saved: { readonly command: string; readonly rows: readonly Row[] } | null
}

export interface CheckedImport extends Checked {
  /** Whether the import can be run again without making a record twice. */
  readonly isRepeatable: boolean
  /** Reads the rows again. */
  readonly rowsOf: () => Promise<Rows>
}

/** Checks all rows against the contract, before anything is sent. */
export async function checkImport(context: Context, wanted: Import): Promise<CheckedImport> {
  const { dataset, file, onExists, skipInvalid } = wanted
  // Durations count back from one time, however often the rows are read.
  const now = context.io.now()
  const rowsOf = async () =>
    wanted.saved ? givenRows(dataset, wanted.saved.rows) : readRows(file, dataset, { ...wanted, now })
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
function withKeys({ rows, ...others }: Rows, { dataset, file, saved }: Import): Rows {
  const isKeyed = saved !== null || dataset.keys.some((fields) => fields.join() !== 'externalId')
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

export interface Sending extends Putting {
  readonly abilities: Abilities
  readonly finder: Finder
}

/** Maximum requests at once. */
const maxRequests = 8

/** Throws if the platform lacks a required operation. */
export async function openSending(context: Context, { dataset, file, onExists }: Import): Promise<Sending> {
  const { io, session } = context
  const writing = await openWriter({ io, session }, maxRequests, {
    command: `${dataset.name} import`,
    source: sourceOf([file.name]),
  })
  const { caller, signal } = writing
  const abilities = await abilitiesOf(caller, dataset, signal)
  if (onExists !== 'fail') requireFind(context, dataset, abilities)
  // Otherwise read the list once: each missing record would be searched for in the whole list.
  const asks = abilities.keys
  const finder = asks ? oneByOne(caller, dataset, signal) : byLists(caller, dataset, signal, true)
  if (!asks && abilities.find) await finder.prepare([])
  return {
    ...writing,
    printIds: idPrinter(context),
    resolve: abilities.keys ? async (record) => record : referenceResolver(caller, dataset, signal),
    ...{ dataset, finder, onExists },
    abilities,
  }
}

/** Operations that a platform offers for the records of a dataset, known before anything is sent. */
interface Abilities {
  /** True if one request takes many rows and the server matches each by its key. */
  readonly batch: boolean
  readonly find: boolean
  /** True for a server of this API: it finds a record by its reference, and repeats its answer to an Idempotency-Key. */
  readonly keys: boolean
}

/** Returns what a platform can do: a learnctl server everything, another one what its list answers. */
async function abilitiesOf(
  caller: Caller,
  { operations: { batch, list, update } }: Dataset,
  signal: AbortSignal,
): Promise<Abilities> {
  if (await isLearnctlServer(caller, signal)) return { batch: batch !== undefined, find: true, keys: true }
  const find = update !== undefined && (await isListed(caller, list, signal))
  return { batch: false, find, keys: false }
}

async function isListed(caller: Caller, list: Call, signal: AbortSignal): Promise<boolean> {
  try {
    for await (const _ of caller.pages<Operation>(list, { signal })) return true
    return true
  } catch (error) {
    if (error instanceof NotOfferedError) return false
    throw error
  }
}

/** Throws a CommandError if rows would change records that cannot be looked up. */
function requireFind(
  { session }: Pick<Context, 'session'>,
  { noun, operations: { list, update } }: Dataset,
  { find }: Abilities,
): void {
  if (update === undefined || find) return
  const message = `${platformName(session.target())} cannot look up ${noun}s, so existing ones cannot be recognised`
  throw new CommandError('not_offered', 'failure', message, {
    why: [`It does not support ${list.method} ${list.path}; nothing was sent`],
    hint: 'Create a new record from each row: --on-exists fail',
  })
}

/** Number of rows to look up together and hold in memory. */
const windowRows = 20_000
/** Returns a finder for the records of a window: it reads lists where that takes fewer requests. */
export function windowFinder(
  { abilities, caller, dataset, finder, signal }: Sending,
  isLocal: boolean,
): Finder {
  const { find, keys } = abilities
  if (!find) return { ...finder, prepare: async () => {} }
  return keys && !isLocal ? byLists(caller, dataset, signal, false) : finder
}

export async function* inWindows(rows: AsyncIterable<readonly Row[]>): AsyncGenerator<readonly Row[]> {
  let held: Row[] = []
  for await (const some of rows) {
    held.push(...some)
    if (held.length < windowRows) continue
    yield held
    held = []
  }
  yield held
}

/**
 * Returns a function that replaces `ext:` and `email:` references in a record by the ids of a remote platform, which
 * may otherwise store them as text. Each list is read once; a reference that is not found, or cannot be listed, is
 * sent as it is.
 */
function referenceResolver(
  caller: Caller,
  { references }: Dataset,
  signal: AbortSignal,
): (record: JsonObject) => Promise<JsonObject> {
  const finders = new Map<string, Promise<Finder | null>>()

  async function open(to: ReferredName): Promise<Finder | null> {
    const finder = byLists(caller, await loadDataset(to), signal, true)
    try {
      await finder.prepare([])
      return finder
    } catch (error) {
      const isRefusal = error instanceof ApiError && [400, 403, 404, 422].includes(error.status)
      if (isRefusal || error instanceof NotOfferedError || error instanceof ProtocolError) return null
      throw error
    }
  }

  async function idOf(to: ReferredName, text: string): Promise<string | null> {
    const { by, value } = parseReference(text)
    if (by === 'id') return null
    const finder = finders.get(to) ?? open(to)
    finders.set(to, finder)
    const match = await (await finder)?.find({ [by === 'ext' ? 'externalId' : 'email']: value })
    const shown = match?.shown
    return shown ? String(shown['id']) : null
  }

  return async (record) => {
    let resolved = record
    for (const [field, to] of Object.entries(references)) {
      const value = record[field]
      const id = typeof value === 'string' ? await idOf(to, value) : null
      if (id !== null) resolved = { ...resolved, [field]: id }
    }
    return resolved
  }
}
