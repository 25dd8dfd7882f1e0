import { readFile, rm, stat } from 'node:fs/promises'
import { basename, dirname, extname, join, resolve } from 'node:path'
import { csvText } from '../../codec/csv.ts'
import type { Context } from '../command/context.ts'
import { type Dataset, namesOf } from '../dataset/dataset.ts'
import { pluralise } from '../terminal/format-text.ts'
import { note } from '../terminal/io.ts'
import { createProgressLine } from '../terminal/progress-line.ts'
import { writeTarget } from '../terminal/target-file.ts'
import { refusalText, shownRefusal } from './check-rows.ts'
import { createPut, unconfirmed } from './create-or-update.ts'
import { checkImport, type Import, openSending, type Sending } from './open-import.ts'
import type { Outcome, Refusal, Rejection } from './outcome.ts'
import { requireAsPlanned } from './plan-import.ts'
import type { ImportFile } from './sources/file.ts'
import { addedColumns, type ColumnMap, isMappingCell, mappingCells } from './sources/header.ts'
import { headerMapping } from './sources/mapping.ts'
import type { Row, Rows } from './sources/rows.ts'
import { batchSize, createBatcher, createRefusals, writeBatch } from './write.ts'

export interface Imported {
  readonly counts: Counts
  /** Rows read; the sum of the counts. */
  readonly rows: number
  /** File with the rejected rows; null if there are none. */
  readonly errorsFile: string | null
  readonly rejections: readonly Rejection[]
}

type Counts = Record<Outcome['kind'], number>

/** Maximum number of rows to hold for sending again. */
const maxRetried = 20_000

/** Checks the whole file, then sends it. An import that was interrupted is run again: it recognises its records. */
export async function runImport(context: Context, wanted: Import): Promise<Imported> {
  const { io } = context
  const checked = await checkImport(context, wanted)
  const { rows, invalid } = checked
  const sending = await openSending(context, wanted)
  const sent = new SentRows(wanted)
  const line = await createProgressLine(io, 'rows', rows)
  try {
    if (wanted.saved) await requireAsPlanned(context, wanted, sending, checked)
    await sendRows(sending, wanted, valid(await checked.rowsOf(), invalid), sent, () =>
      line.update(sent.total()),
    )
    line.stop()

    for (const text of sending.notes.sentences()) await note(io, text)
    const { rows: warned, first } = sent.warned
    if (warned > 0) await note(io, `Warning for ${pluralise(warned, 'row')}: ${first}`)
    const counts = { ...sent.counts, failed: sent.counts.failed + invalid.size }
    const rejections = [...sent.rejections, ...invalid.values()]
    const errorsFile =
      rejections.length > 0 ? await writeErrors(io.cwd, wanted, await checked.rowsOf(), rejections) : null
    return { counts, rows, errorsFile, rejections }
  } catch (error) {
    line.stop()
    if (sent.total() > 0) {
      const again = checked.isRepeatable
        ? 'run the same command again, which recognises what was imported'
        : 'import the other rows alone: the platform does not recognise these'
      await note(io, `Stopped after ${sent.total()} of ${rows} rows; ${again}`)
    }
    throw error
  }
}

/** The rows of an import that have been answered. */
class SentRows {
  readonly counts: Counts = { created: 0, updated: 0, unchanged: 0, skipped: 0, failed: 0 }
  readonly rejections: Rejection[] = []
  /** Rows with a warning of the platform, and the first warning. */
  readonly warned = { rows: 0, first: '' }
  readonly #wanted: Import
  /** Rows that were refused for a name that another row may have freed since. */
  #taken: { readonly row: Row; readonly rejection: Rejection }[] = []

  constructor(wanted: Import) {
    this.#wanted = wanted
  }

  total(): number {
    return Object.values(this.counts).reduce((sum, count) => sum + count, 0)
  }

  add(row: Row, labels: Rows['labels'], outcome: Outcome): void {
    this.counts[outcome.kind] += 1
    if (outcome.kind !== 'failed') {
      if (!outcome.warning) return
      if (this.warned.rows === 0) this.warned.first = outcome.warning
      this.warned.rows += 1
      return
    }
    const { dataset, onExists } = this.#wanted
    const rejection = rejected(dataset, row, labels, outcome)
    const mayBeFreed = dataset.unique !== undefined && onExists === 'update' && rejection.code === 'duplicate'
    if (mayBeFreed && this.#taken.length < maxRetried) this.#taken.push({ row, rejection })
    else this.rejections.push(rejection)
  }

  /** Returns the rows to send again: none without an update, or if none was taken since the last time. */
  rowsToRetry(before: number): readonly Row[] {
    const taken = this.#taken
    this.#taken = []
    if (this.counts.updated === 0 || taken.length >= before) {
      this.rejections.push(...taken.map(({ rejection }) => rejection))
      return []
    }
    this.counts.failed -= taken.length
    // Reversed each time: a chain of users that take each other's names is free in one of the two orders.
    return taken.toReversed().map(({ row }) => row)
  }
}

/** Sends all rows, then again those that were refused for a name that another row has freed since. */
async function sendRows(
  sending: Sending,
  { dataset, map, batchSize: records }: Import,
  { header, labels, rows }: Rows,
  sent: SentRows,
  onAnswer: () => Promise<void>,
): Promise<void> {
  const { pacing, signal, onExists } = sending
  const { batch } = sending.abilities
  const codeCell = codeCellIn(header, map)
  const put = createPut(sending)
  const refusals = createRefusals()
  const batcher = createBatcher<Row>({ ...batchSize, records: batch ? records : 1 }, ({ record }) => record)

  await send(rows, (row) => lanesOf(dataset, row, batch))
  for (let before = Number.POSITIVE_INFINITY; ; ) {
    const again = sent.rowsToRetry(before)
    if (again.length === 0) return
    before = again.length
    await send([again], () => ['retry'])
  }

  /**
   * Sends rows and waits for all answers. Refusals of single rows are outcomes; any other fault ends the work and is thrown
   * when the requests under way have ended.
   */
  async function send(
    chunks: AsyncIterable<readonly Row[]> | readonly (readonly Row[])[],
    lanesOf: (row: Row) => readonly string[],
  ): Promise<void> {
    const start = async (unit: readonly Row[]) => {
      signal.throwIfAborted()
      const answer = async () => {
        for (const [index, outcome] of (await outcomesOf(unit)).entries()) {
          const row = unit[index]
          if (row) sent.add(row, labels, outcome)
        }
        await onAnswer()
      }
      await pacing.run(answer, [...new Set(unit.flatMap(lanesOf))])
    }
    try {
      for await (const some of chunks) {
        for (const row of some) {
          const full = batcher.add(row)
          if (full) await start(full)
        }
      }
      const rest = batcher.rest()
      if (rest.length > 0) await start(rest)
      await pacing.settled()
    } catch (error) {
      // Report the answers of requests that are still under way.
      await pacing.settled().catch(() => {})
      throw error
    }
  }

  async function outcomesOf(unit: readonly Row[]): Promise<readonly Outcome[]> {
    if (!batch) return Promise.all(unit.map(outcomeOf))
    const items = unit.map(({ record }) => ({ ...dataset.presumed, ...(dataset.toItem?.(record) ?? record) }))
    return writeBatch(sending, dataset, items, onExists)
  }

  async function outcomeOf({ record, cells }: Row): Promise<Outcome> {
    try {
      const outcome = await put(record, cells[codeCell] === unconfirmed)
      refusals.reset()
      return outcome
    } catch (error) {
      return { kind: 'failed', ...refusals.of(error) }
    }
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

/** Returns a rejection that names columns and values of the file instead of the API's pointers. */
function rejected(dataset: Dataset, row: Row, labels: Rows['labels'], refusal: Refusal): Rejection {
  const { line } = row
  const message = refusalText(dataset, row, labels, refusal)
  const shown = shownRefusal(dataset, row, labels, refusal)
  return { line, code: refusal.isDoubtful ? unconfirmed : refusal.code, message, shown }
}

function valid({ rows, ...others }: Rows, invalid: ReadonlyMap<number, unknown>): Rows {
  return { ...others, rows: invalid.size === 0 ? rows : validIn() }

  async function* validIn(): AsyncGenerator<readonly Row[]> {
    for await (const some of rows) yield some.filter(({ line }) => !invalid.has(line))
  }
}

/** Returns the default errors file of an imported file: `users.errors.csv` for `users.csv`. */
export function errorsFileOf({ name, format }: Pick<ImportFile, 'name' | 'format'>): string {
  const ending = format === 'tsv' ? 'tsv' : 'csv'
  if (name === 'standard input') return `errors.${ending}`
  const plain = name.replace(/\.gz$/i, '')
  const stem = basename(plain, extname(plain))
  // An errors file that is imported must not be overwritten by its own rejected rows.
  const [, before = stem, number] = /^(.*)\.errors(?:-(\d+))?$/.exec(stem) ?? []
  const suffix = before === stem ? '' : `-${Number(number ?? 1) + 1}`
  return join(dirname(plain), `${before}.errors${suffix}.${ending}`)
}

/** Names of an errors file by number: `users.errors.csv`, `users.errors-2.csv` and so on. */
function numberedErrorsFile(name: string, number: number): string {
  if (number === 1) return name
  const ending = extname(name)
  const [, before = '', first = '1'] = /^(.*?)(?:-(\d+))?$/.exec(name.slice(0, -ending.length)) ?? []
  return `${before}-${Number(first) + number - 1}${ending}`
}

/** Returns the first name of an errors file that is free, and the last that is not. */
async function findFreeName(cwd: string, name: string): Promise<{ free: string; taken: string | undefined }> {
  let taken: string | undefined
  for (let number = 1; ; number += 1) {
    const free = numberedErrorsFile(name, number)
    if ((await stat(resolve(cwd, free)).catch(() => null)) === null) return { free, taken }
    taken = free
  }
}

/** Separators that are recognised in a header. */
const knownDelimiters = [',', ';', '\t', '|']

/**
 * Writes the rejected rows of a file in its own form: its header, separator and cells, then line, code and message.
 * The header has the mapping of the import, too, so that the corrected file can be imported as it is. A file that exists may have been
 * corrected, so it is only replaced if the user named it. Returns the name of the file with the rows.
 */
async function writeErrors(
  cwd: string,
  wanted: Import,
  { header, delimiter: own = ',', paths, rows, placeOf }: Rows,
  rejections: readonly Rejection[],
): Promise<string> {
  const { dataset, file, map } = wanted
  const { free: errorsFile, taken } = wanted.isErrorsFileNamed
    ? { free: wanted.errorsFile, taken: undefined }
    : await findFreeName(cwd, wanted.errorsFile)
  const reasons = new Map(rejections.map((rejection) => [rejection.line, rejection]))
  const kept = header.flatMap((name, index) => (isAdded(name, map) ? [] : [{ name, index }]))
  // Fields that a flag gives to all records.
  const presumed = Object.entries(dataset.presumed ?? {}).flatMap(([path, value]) =>
    value === true && !paths.has(path) ? [path] : [],
  )
  const mapping = mappingCells(headerMapping(wanted, dataset))
  const added = addedColumns.map((name) => (map.has(name) ? `import ${name}` : name))
  // A semicolon leaves decimal commas readable.
  const delimiter = /\.(tsv|tab)$/i.test(errorsFile) ? '\t' : knownDelimiters.includes(own) ? own : ';'
  const plain = (text: string) => csvText(text, true)
  await writeTarget(cwd, errorsFile, lines(), { force: true, mode: 0o600 })
  if (taken === undefined) return errorsFile
  const [written, before] = await Promise.all([errorsFile, taken].map((name) => readFile(resolve(cwd, name))))
  if (!written!.equals(before!)) return errorsFile
  await rm(resolve(cwd, errorsFile))
  return taken

  async function* lines(): AsyncGenerator<string> {
    const line = (cells: readonly string[]) => `${cells.join(delimiter)}\r\n`
    // Without a byte order mark, spreadsheets take a file for one in their own encoding.
    if (file.isMarked || file.charset !== 'utf-8') yield '\ufeff'
    yield line([...kept.map(({ name }) => name), ...presumed, ...mapping, ...added].map(plain))
    for await (const some of rows) {
      for (const { line: number, cells } of some) {
        const reason = reasons.get(number)
        if (!reason) continue
        yield line([
          ...kept.map(({ index }) => plain(cells[index] ?? '')),
          ...presumed.map(() => 'true'),
          ...mapping.map(() => ''),
          // The message comes last: spreadsheets leave out empty cells at the end of rows.
          ...[String(placeOf?.(number).line ?? number), plain(reason.code), csvText(reason.message, false)],
          ...cells.slice(header.length).map(plain),
        ])
      }
    }
  }
}

/** Returns the index of the cell with the rejection code in a file of rejected rows; -1 in any other file. */
function codeCellIn(header: readonly string[], map: ColumnMap): number {
  const own = header.indexOf('import code')
  return own < 0 && typeof map.get('code') !== 'string' ? header.indexOf('code') : own
}

/** True for a column of an errors file that the rejected file did not have. */
function isAdded(name: string, map: ColumnMap): boolean {
  if (isMappingCell(name)) return true
  return addedColumns.some((added) => (name === added && !map.get(name)) || name === `import ${added}`)
}
