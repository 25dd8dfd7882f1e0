import { readFile, rm, stat } from 'node:fs/promises'
import { basename, dirname, extname, join, resolve } from 'node:path'
import { csvText } from '../../codec/csv.ts'
import type { Context } from '../command/context.ts'
import { type Dataset, namesOf } from '../dataset/dataset.ts'
import { pluralise } from '../terminal/format-text.ts'
import { note } from '../terminal/io.ts'
import { createProgressLine } from '../terminal/progress-line.ts'
import { openTarget } from '../terminal/target-file.ts'
import { refusalText, shownRefusal } from './check-rows.ts'
import { createPut, unconfirmed } from './create-or-update.ts'
import { createExecutor, singly } from './execute.ts'
import { type Counts, countsOf, type Rejection, type RowOutcome, sumOf, totalOf } from './import-outcomes.ts'
import { checkImport, type Import, openSending, type Sending } from './open-import.ts'
import { requireSameRecords } from './plan-import.ts'
import type { ImportFile } from './sources/file.ts'
import { addedColumns, type ColumnMap, isMappingCell, mappingCells } from './sources/header.ts'
import { headerMapping } from './sources/mapping.ts'
import type { Row, Rows } from './sources/rows.ts'
import type { Refusal, Step } from './step.ts'
import { type BatchSize, batchSize } from './write.ts'

export interface Imported {
  readonly counts: Counts
  /** Rows read; the sum of the counts. */
  readonly rows: number
  /** File with the rejected rows; null if there are none. */
  readonly errorsFile: string | null
  readonly rejections: readonly Rejection[]
}

/** Maximum number of rows to hold for sending again. */
const maxRetried = 20_000

/** Checks the whole file, then sends it unit by unit. An import that was interrupted is run again: it recognises its records. */
export async function runImport(context: Context, wanted: Import): Promise<Imported> {
  const { io, session } = context
  const checked = await checkImport(context, wanted)
  const { rows, invalid } = checked
  const sending = await openSending(context, wanted)
  const size = sending.abilities.batch ? { ...batchSize, records: wanted.batchSize } : singly
  // Durations count back from one time in all passes.
  const now = io.now()
  const rowsOf = async () => valid(await checked.rowsOf(now), invalid)
  const done: Done = { counts: countsOf([]), rejections: [] }
  const line = await createProgressLine(io, 'rows', rows)
  try {
    if (wanted.saved) {
      const isLocal = session.target().kind === 'local'
      await requireSameRecords(io, sending, wanted, isLocal, (await rowsOf()).rows)
    }
    const onAnswer = () => line.update(totalOf(done.counts))
    const warned = await sendRows(wanted, { sending, done, size, rowsOf, onAnswer })
    line.stop()

    for (const text of sending.notes.sentences()) await note(io, text)
    if (warned.rows > 0) await note(io, `Warning for ${pluralise(warned.rows, 'row')}: ${warned.first}`)
    const counts = sumOf(done.counts, countsOf([...invalid.values()]))
    const rejections = [...done.rejections, ...invalid.values()]
    const errorsFile =
      rejections.length > 0 ? await writeErrors(io.cwd, wanted, await checked.rowsOf(), rejections) : null
    return { counts, rows, errorsFile, rejections }
  } catch (error) {
    line.stop()
    const count = totalOf(done.counts)
    if (count > 0) {
      const again = checked.isRepeatable
        ? 'run the same command again, which recognises what was imported'
        : 'import the other rows alone: the platform does not recognise these'
      await note(io, `Stopped after ${count} of ${rows} rows; ${again}`)
    }
    throw error
  }
}

/** The counts and rejected rows of an import that is under way. */
interface Done {
  counts: Counts
  rejections: Rejection[]
}

interface SendingRows {
  readonly sending: Sending
  readonly done: Done
  readonly size: BatchSize
  /** Reads the valid rows from the beginning. */
  readonly rowsOf: () => Promise<Rows>
  readonly onAnswer: () => Promise<void>
}

/**
 * Sends all rows, then again those that were refused for a name that another row has freed since. Returns the number
 * of rows with a warning of the platform, and the first warning.
 */
async function sendRows(
  wanted: Import,
  { sending, done, size, rowsOf, onAnswer }: SendingRows,
): Promise<{ readonly rows: number; readonly first: string }> {
  const { dataset } = wanted
  const { header, labels, rows } = await rowsOf()
  const codeCell = codeCellIn(header, wanted.map)
  const warned = { rows: 0, first: '' }
  const executor = createExecutor<Row>({
    ...sending,
    put: createPut({ ...sending, isDoubtful: ({ from: { cells } }) => cells[codeCell] === unconfirmed }),
    finish: async (steps, outcomes) => {
      const answers = steps.map(({ from }, index): RowOutcome => {
        const { line } = from
        const outcome = outcomes[index] ?? { kind: 'skipped' }
        if (outcome.kind === 'failed') return rejected(dataset, from, labels, outcome)
        if (outcome.warning && warned.rows === 0) warned.first = outcome.warning
        if (outcome.warning) warned.rows += 1
        return { line, kind: outcome.kind }
      })
      done.counts = sumOf(done.counts, countsOf(answers))
      done.rejections.push(...answers.filter((answer) => answer.kind === 'failed'))
      await onAnswer()
    },
  })
  await executor.run(inSteps(rows, stepFor(sending)), size)
  let before = maxRetried + 1
  for (let pass = 0; ; pass += 1) {
    const lines = linesToRetry(wanted, done)
    if (lines.size === 0 || lines.size >= before) return warned
    before = lines.size
    const again = await retriedRows(await rowsOf(), lines)
    const steps = again.map((row) => ({ ...stepFor(sending)(row), lanes: ['retry'] }))
    done.rejections = done.rejections.filter(({ line }) => !lines.has(line))
    done.counts = { ...done.counts, failed: done.counts.failed - lines.size }
    // Reverse the order on every other pass: a chain of users that take each other's names is free in one of the two.
    await executor.run(pass % 2 === 0 ? steps.reverse() : steps, size)
  }
}

function stepFor({ dataset, abilities }: Sending): (row: Row) => Step<Row> {
  return (row) => {
    const lanes = lanesOf(dataset, row, abilities.batch)
    return { from: row, record: row.record, lanes }
  }
}

/** Returns the lines that were refused for a name that another row may have freed since; none if that is impossible. */
function linesToRetry(
  { dataset, onExists }: Import,
  { counts, rejections }: Readonly<Done>,
): ReadonlySet<number> {
  if (dataset.unique === undefined || onExists !== 'update' || counts.updated === 0) return new Set()
  return new Set(rejections.flatMap(({ code, line }) => (code === 'duplicate' ? [line] : [])))
}

async function retriedRows({ rows }: Rows, lines: ReadonlySet<number>): Promise<Row[]> {
  const found: Row[] = []
  for await (const some of rows) found.push(...some.filter(({ line }) => lines.has(line)))
  return found
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
  return { line, kind: 'failed', code: refusal.isDoubtful ? unconfirmed : refusal.code, message, shown }
}

async function* inSteps(
  chunks: AsyncIterable<readonly Row[]>,
  stepOf: (row: Row) => Step<Row>,
): AsyncGenerator<readonly Step<Row>[]> {
  for await (const rows of chunks) yield rows.map(stepOf)
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
  const target = await openTarget(cwd, errorsFile, { force: true, mode: 0o600 })
  const write = (cells: readonly string[]) => target.write(Buffer.from(`${cells.join(delimiter)}\r\n`))
  try {
    // Without a byte order mark, spreadsheets take a file for one in their own encoding.
    if (file.isMarked || file.charset !== 'utf-8') await target.write(Buffer.from('\ufeff'))
    await write([...kept.map(({ name }) => name), ...presumed, ...mapping, ...added].map(plain))
    for await (const some of rows) {
      for (const { line, cells } of some) {
        const reason = reasons.get(line)
        if (!reason) continue
        const message = csvText(reason.message, false)
        await write([
          ...kept.map(({ index }) => plain(cells[index] ?? '')),
          ...presumed.map(() => 'true'),
          ...mapping.map(() => ''),
          // The message comes last: spreadsheets leave out empty cells at the end of rows.
          ...[String(placeOf?.(line).line ?? line), plain(reason.code), message],
          ...cells.slice(header.length).map(plain),
        ])
      }
    }
    await target.finish()
  } catch (error) {
    await target.discard()
    throw error
  }
  if (taken === undefined) return errorsFile
  const [written, before] = await Promise.all([errorsFile, taken].map((name) => readFile(resolve(cwd, name))))
  if (!written!.equals(before!)) return errorsFile
  await rm(resolve(cwd, errorsFile))
  return taken
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
