import { publishedApi } from '../../client/published-api.ts'
import type { JsonObject } from '../../codec/json-text.ts'
import { platformName } from '../../config/target.ts'
import type { Context } from '../command/context.ts'
import type { DateFormat } from '../dataset/cell.ts'
import { type Dataset, namesOf } from '../dataset/dataset.ts'
import { fieldPath } from '../operation/field-path.ts'
import { type Abilities, abilitiesOf, changeNote, requireChange } from '../records/abilities.ts'
import { createExecutor, openWriting, type Writing } from '../records/execute.ts'
import { byPages, type Finder, oneByOne } from '../records/finder.ts'
import { maxAttemptAgeMs } from '../records/journal-file.ts'
import { createPut, type Putting, unconfirmed } from '../records/put.ts'
import type { ImportFile } from '../records/sources/file.ts'
import type { ColumnMap } from '../records/sources/header.ts'
import { readRows } from '../records/sources/read-rows.ts'
import type { Row, Rows } from '../records/sources/rows.ts'
import type { Refusal, Step } from '../records/step.ts'
import { type BatchSize, batchSize, type OnExists } from '../records/write.ts'
import { UsageError } from '../terminal/errors.ts'
import { counted } from '../terminal/format-text.ts'
import { note } from '../terminal/io.ts'
import { createProgressLine } from '../terminal/progress-line.ts'
import { checkByDocument } from './check-document.ts'
import { type Checked, checkFile } from './check-file.ts'
import { codeCellIn, writeErrors } from './errors-file.ts'
import { type ImportLine, type Journal, lineText, openJournal } from './journal.ts'
import { type Counts, countsOf, type Rejection, type RowOutcome, sumOf, totalOf } from './outcome.ts'
import { referenceSettler } from './settle-references.ts'

/** Options of an import. */
export interface Import {
  readonly dataset: Dataset
  readonly file: ImportFile
  readonly map: ColumnMap
  readonly delimiter: string | undefined
  readonly dateFormat: DateFormat | undefined
  readonly onExists: OnExists
  readonly skipInvalid: boolean
  /** Starts again from the first row if an import of the file was interrupted. */
  readonly restart: boolean
  /** Notes it if there is no interrupted import to resume. */
  readonly resume: boolean
  readonly concurrency: number
  /** An empty cell resets its field to the default. */
  readonly clearEmpty: boolean
  /** Maximum rows in one request, if the platform takes several. */
  readonly batchSize: number
  /** File for rejected rows. */
  readonly errorsFile: string
  readonly line: ImportLine
}

/** Result of an import. */
export interface Imported {
  readonly counts: Counts
  /** Rows read; the sum of the counts. */
  readonly rows: number
  /** File with the rejected rows; null if there are none. */
  readonly errorsFile: string | null
}

/** Maximum number of rows to hold for sending again. */
const maxRetried = 20_000

/**
 * Checks the whole file, then sends it unit by unit and records each answer in the journal. The same command resumes
 * an interrupted import: nothing is sent twice and nothing is skipped.
 */
export async function runImport(context: Context, wanted: Import): Promise<Imported> {
  const { io, directories, session } = context
  const { dataset, file, onExists, skipInvalid } = wanted
  const checked = await checkImport(context, wanted)
  const { rows, invalid, rowsOf } = checked
  const sending = await openSending(context, wanted, checked.document)
  const isBatch = sending.abilities.batch
  const size: BatchSize = { ...batchSize, records: isBatch ? wanted.batchSize : 1 }
  const journal = await openJournal(
    io,
    directories.state,
    {
      target: platformName(session.target()),
      dataset: dataset.name,
      source: file.path ?? `standard input ${file.hash}`,
      hash: file.hash,
      options: {
        ...{ onExists, skipInvalid, size: size.records, map: [...wanted.map], clearEmpty: wanted.clearEmpty },
        ...{ format: file.format, charset: file.charset, delimiter: wanted.delimiter ?? null },
        ...(wanted.dateFormat && { dateFormat: wanted.dateFormat }),
        ...(dataset.presumed && { presumed: dataset.presumed }),
      },
    },
    wanted.line,
    wanted.restart,
  )
  if (isBatch) requireRemembered(journal, io.now(), wanted.line)
  const beginning = beginningOf(wanted, journal, rows)
  if (beginning !== null) await note(io, beginning)
  const line = await createProgressLine(io, 'rows', rows)
  const warned = { rows: 0, first: '' }
  let pass = -1
  try {
    const rowsToSend = await rowsOf(journal.begunAt)
    const codeCell = codeCellIn(rowsToSend.header, wanted.map)
    const executor = createExecutor<Row>({
      ...sending,
      onExists,
      put: createPut({ ...sending, isDoubtful: ({ from: { cells } }) => cells[codeCell] === unconfirmed }),
      attemptOf: ({ number }) => {
        if (journal.isDone(number)) return null
        const before = journal.intentOf(number)
        return {
          idempotencyKey: `${journal.id}-${number}`,
          before,
          forgotten: before !== null && before.at < io.now() - maxAttemptAgeMs,
          begin: (intent) => journal.begin(number, intent),
        }
      },
      finish: async ({ number, steps }, outcomes) => {
        const rows = steps.map(({ from: { line } }, index): RowOutcome => {
          const outcome = outcomes[index] ?? { kind: 'skipped' }
          if (outcome.kind === 'failed') return rejected(dataset, line, outcome)
          if (outcome.warning && warned.rows === 0) warned.first = outcome.warning
          if (outcome.warning) warned.rows += 1
          // A put deletes nothing.
          return { line, kind: outcome.kind as Exclude<typeof outcome.kind, 'deleted'> }
        })
        journal.finish(number, rows, pass >= 0)
        await line.update(totalOf(journal.counts))
      },
      withdraw: ({ number }) => journal.withdraw(number),
    })
    const stepOf = (row: Row): Step<Row> => {
      const lanes = pass >= 0 ? ['retry'] : lanesOf(dataset, row, isBatch)
      return { deed: 'put', dataset, from: row, record: row.record, lanes }
    }
    await executor.run(inSteps(valid(rowsToSend, invalid), stepOf), size)
    for (pass = 0; ; pass += 1) {
      if (journal.retries[pass] === undefined) journal.retry(linesToRetry(wanted, journal))
      const lines = new Set(journal.retries[pass])
      if (lines.size === 0) break
      const again = await retriedRows(await rowsOf(journal.begunAt), lines)
      // Reverse the order on every other pass: a chain of users that take each other's names is free in one of the
      // two.
      await executor.run((pass % 2 === 0 ? again.reverse() : again).map(stepOf), size)
    }
    line.stop()

    for (const text of sending.notes.sentences(platformName(session.target()))) await note(io, text)
    if (warned.rows > 0) await note(io, `Warning for ${counted(warned.rows, 'row')}: ${warned.first}`)
    const counts = sumOf(journal.counts, countsOf([...invalid.values()]))
    const rejections = [...journal.rejections, ...invalid.values()]
    if (rejections.length > 0) await writeErrors(io.cwd, wanted, await rowsOf(), rejections)
    journal.remove()
    return { counts, rows, errorsFile: rejections.length > 0 ? wanted.errorsFile : null }
  } catch (error) {
    line.stop()
    if (journal.hasBegun) {
      // The same command line would restart the import again.
      const next = wanted.restart
        ? `continue with: ${lineText(wanted.line)}`
        : 'run the same command to continue'
      await note(io, `Stopped after ${totalOf(journal.counts)} of ${rows} rows; ${next}`)
    } else journal.remove()
    throw error
  } finally {
    journal.close()
  }
}

/**
 * Returns the rows that were refused for a name that another row may have freed since; none if that is impossible.
 */
function linesToRetry(
  { dataset, onExists }: Import,
  { counts, rejections, retries }: Pick<Journal, 'counts' | 'rejections' | 'retries'>,
): readonly number[] {
  if (dataset.unique === undefined || onExists !== 'update' || counts.updated === 0) return []
  const lines = rejections.flatMap(({ code, line }) => (code === 'duplicate' ? [line] : []))
  const before = retries.at(-1)?.length ?? maxRetried + 1
  return lines.length < before ? lines.toSorted((one, other) => one - other) : []
}

async function retriedRows({ rows }: Rows, lines: ReadonlySet<number>): Promise<Row[]> {
  const found: Row[] = []
  for await (const some of rows) found.push(...some.filter(({ line }) => lines.has(line)))
  return found
}

/**
 * Throws a UsageError if a request is so old that the platform may have dropped its idempotency key: repeating it
 * could create its rows twice.
 */
function requireRemembered(journal: Journal, now: number, line: ImportLine): void {
  const unknown = journal.unknownSince(now - maxAttemptAgeMs)
  if (unknown === 0) return
  const what = unknown === 1 ? 'a request' : `${unknown} requests`
  throw new UsageError('The import was interrupted too long ago to be continued', {
    code: 'import_too_old',
    why: [`It lost the response to ${what}, which the platform remembers for 24 hours; nothing was sent`],
    hint: `Begin again from the first row; existing records are recognised: ${lineText(line, '--restart')}`,
  })
}

/** A checked file and the OpenAPI document of the platform; null for a local academy and if there is none. */
interface CheckedImport extends Checked {
  /** Reads the rows again; durations count back from `now`. */
  readonly rowsOf: (now?: number) => Promise<Rows>
  readonly document: JsonObject | null
}

/** Checks all rows against the contract and the platform's OpenAPI document, before anything is sent. */
export async function checkImport(context: Context, wanted: Import): Promise<CheckedImport> {
  const { dataset, file, onExists, skipInvalid } = wanted
  const rowsOf = (now = context.io.now()) => readRows(file, dataset, { ...wanted, now })
  const local = context.session.target().kind === 'local'
  const partial = onExists === 'update'
  const document = local ? null : await publishedApi(await context.session.caller(), context.io.signal)
  const byDocument = checkByDocument(document, dataset)
  const options = { partial, local, skipInvalid, byDocument, expectedRows: file.lines }
  const checked = await checkFile(file.name, dataset, await rowsOf(), options)
  const { keyless } = checked
  if (keyless > 0) {
    const [field] = dataset.keys.flat()
    const [which, them] = keyless === 1 ? ['1 row has', 'it'] : [`${keyless} rows have`, 'them']
    await note(context.io, `${which} no ${field}; each import creates ${them} again`)
  }
  return { ...checked, rowsOf, document }
}

/** State that sending rows needs. */
export interface Sending extends Writing, Omit<Putting<Row>, 'isDoubtful'> {
  readonly abilities: Abilities
  readonly finder: Finder
}

/** Opens everything that sending needs. Throws if the platform lacks a required operation. */
export async function openSending(
  { io, session }: Context,
  { dataset, onExists, batchSize, concurrency }: Import,
  document: JsonObject | null,
): Promise<Sending> {
  const writing = await openWriting({ io, session }, concurrency)
  const { caller, signal } = writing
  const abilities = await abilitiesOf(session.target(), caller, dataset, document, signal)
  if (onExists !== 'fail') requireChange({ session }, dataset, abilities, onExists)
  // Otherwise read the list once: each missing record would be searched for in the whole list.
  const asks = abilities.get && abilities.keys
  const finder = asks ? oneByOne(caller, dataset, signal) : byPages(caller, dataset, signal, true)
  if (!asks && abilities.find) await finder.prepare([])
  return {
    ...writing,
    settle: abilities.keys ? async (record) => record : referenceSettler(caller, dataset, signal),
    noteChange: changeNote({ io, session }, dataset, abilities),
    ...{ dataset, finder, onExists },
    abilities: { ...abilities, batch: abilities.batch && batchSize > 1 },
  }
}

const allSteps = ['all']

/**
 * Returns the lanes of a row. Rows that share a lane are sent one after another: those that name the same record or
 * must keep the order of the file.
 */
function lanesOf(dataset: Dataset, { record }: Row, isBatch: boolean): readonly string[] {
  // Checked rows have distinct names, except steps of progress, which may span units.
  const isStep = dataset.operations.update === undefined
  if (isBatch) return isStep ? allSteps : []
  const field = dataset.inOrderOf
  const order = field === undefined ? [] : [`in order of ${String(record[field])}`]
  return isStep ? [...namesOf(dataset, record), ...order] : order
}

/** Returns a rejection that names columns of the file instead of the API's pointers. */
function rejected({ columns }: Dataset, line: number, refusal: Refusal): Rejection {
  const problems = refusal.faults.map(({ pointer, parameter, detail }) => {
    // A lookup names `user_id` what a creation names `userId`.
    const named = String(parameter ?? '').replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
    const path = pointer === undefined ? named : fieldPath(String(pointer))
    const column = columns.find((each) => path === each.path || path.startsWith(`${each.path}.`))
    return `${column?.name ?? path}: ${detail}`
  })
  const code = refusal.isDoubtful ? unconfirmed : refusal.code
  return { line, kind: 'failed', code, message: problems.length > 0 ? problems.join('; ') : refusal.detail }
}

async function* inSteps(
  chunks: AsyncIterable<readonly Row[]>,
  stepOf: (row: Row) => Step<Row>,
): AsyncGenerator<readonly Step<Row>[]> {
  for await (const rows of chunks) yield rows.map(stepOf)
}

async function* valid({ rows }: Rows, invalid: ReadonlyMap<number, unknown>): AsyncGenerator<readonly Row[]> {
  for await (const some of rows) {
    yield invalid.size === 0 ? some : some.filter(({ line }) => !invalid.has(line))
  }
}

function beginningOf(
  { file, resume }: Import,
  { formerSource, resumed }: Journal,
  rows: number,
): string | null {
  if (resumed === null)
    return resume ? `No interrupted import of ${file.name}; starting from the first row` : null
  const what = formerSource === null ? '' : ` the import of ${formerSource}, which has the same content,`
  return `Continuing${what} after ${resumed} of ${rows} rows; --restart begins again from the first row`
}
