import { readFile, rm, stat } from 'node:fs/promises'
import { basename, dirname, extname, join, resolve } from 'node:path'
import type { CallInput, Result } from '../../client/call.ts'
import { AmbiguousError, ApiError, isAboutRecord, ProtocolError } from '../../client/errors.ts'
import { csvText } from '../../codec/csv.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { type Call, calls } from '../../contract/calls.ts'
import { maxPageSize } from '../../contract/constants.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Context } from '../command/context.ts'
import { type Dataset, keyOf, namesOf, RecordError } from '../dataset/dataset.ts'
import { thingName } from '../operation/thing-name.ts'
import { pluralise } from '../terminal/format-text.ts'
import { note } from '../terminal/io.ts'
import { createProgressLine } from '../terminal/progress-line.ts'
import { writeTarget } from '../terminal/target-file.ts'
import { type Rejection, refusalText, shownRefusal } from './check-rows.ts'
import { columnsChanged, restoring } from './compare.ts'
import { checkImport, type Import, openSending, type Sending } from './open-import.ts'
import type { ImportFile } from './sources/file.ts'
import { addedColumns, isAddedColumn, mappingCells } from './sources/header.ts'
import { headerMapping } from './sources/mapping.ts'
import type { Row, Rows } from './sources/rows.ts'
import { batchSize, createBatcher, type Outcome, type Refusal, versionOf, writeBatch } from './write.ts'

export interface Imported {
  readonly counts: Counts
  readonly rows: number
  /** Null if there are none. */
  readonly errorsFile: string | null
  readonly rejections: readonly Rejection[]
}

type Counts = Record<Outcome['kind'], number>

interface Sent {
  readonly counts: Counts
  readonly rejections: Rejection[]
  /** Rows with a warning of the platform, and the first warning. */
  readonly warned: { rows: number; first: string }
}

/** Checks the whole file, then sends it. An import that was interrupted is run again: it recognises its records. */
export async function runImport(context: Context, wanted: Import): Promise<Imported> {
  const { io } = context
  const checked = await checkImport(context, wanted)
  const { rows, invalid } = checked
  const sending = await openSending(context, wanted)
  const sent: Sent = {
    counts: { created: 0, updated: 0, unchanged: 0, skipped: 0, failed: 0 },
    rejections: [],
    warned: { rows: 0, first: '' },
  }
  const total = () => Object.values(sent.counts).reduce((sum, count) => sum + count, 0)
  const line = await createProgressLine(io, 'rows', rows)
  try {
    await sendRows(sending, wanted, valid(await checked.rowsOf(), invalid), sent, () => line.update(total()))
    line.stop()

    for (const text of sending.notes.sentences()) await note(io, text)
    const { counts, warned } = sent
    if (warned.rows > 0) await note(io, `Warning for ${pluralise(warned.rows, 'row')}: ${warned.first}`)
    counts.failed += invalid.size
    const rejections = [...sent.rejections, ...invalid.values()]
    const errorsFile =
      rejections.length > 0 ? await writeErrors(io.cwd, wanted, await checked.rowsOf(), rejections) : null
    return { counts, rows, errorsFile, rejections }
  } catch (error) {
    line.stop()
    if (total() > 0) {
      const again = checked.isRepeatable
        ? 'run the same command again, which recognises what was imported'
        : 'import the other rows alone: the platform does not recognise these'
      await note(io, `Stopped after ${total()} of ${rows} rows; ${again}`)
    }
    throw error
  }
}

function valid({ rows, ...others }: Rows, invalid: ReadonlyMap<number, unknown>): Rows {
  return { ...others, rows: invalid.size === 0 ? rows : validIn() }

  async function* validIn(): AsyncGenerator<readonly Row[]> {
    for await (const some of rows) yield some.filter(({ line }) => !invalid.has(line))
  }
}

/** Refused for a name that another row may free. */
interface Taken {
  readonly row: Row
  readonly rejection: Rejection
}

/** Rows to hold for sending again. */
const maxTaken = 20_000

/** Rows that were refused for a name are sent again: another row may have freed it. */
async function sendRows(
  sending: Sending,
  { dataset, batchSize: records }: Import,
  { labels, rows }: Rows,
  sent: Sent,
  onAnswer: () => Promise<void>,
): Promise<void> {
  const { isOurs, onExists, pacing, signal } = sending
  const { counts, rejections, warned } = sent
  const isBatch = isOurs && dataset.operations.batch !== undefined
  const refusalOf = createRefusals()
  const batcher = createBatcher<Row>({ ...batchSize, records: isBatch ? records : 1 }, ({ record }) => record)
  let taken: Taken[] = []

  await send(rows, (row) => lanesOf(dataset, row, isBatch))
  for (let before = Number.POSITIVE_INFINITY; counts.updated > 0 && taken.length < before; ) {
    before = taken.length
    // Reversed each time: a chain of users that take each other's names is free in one of the two orders.
    const again = taken.reverse().map(({ row }) => row)
    taken = []
    counts.failed -= again.length
    await send([again], () => ['retry'])
  }
  rejections.push(...taken.map(({ rejection }) => rejection))

  /** Refusals of single rows are outcomes; any other fault is thrown when the requests under way have ended. */
  async function send(
    chunks: AsyncIterable<readonly Row[]> | readonly (readonly Row[])[],
    lanesOf: (row: Row) => readonly string[],
  ): Promise<void> {
    const start = async (unit: readonly Row[]) => {
      signal.throwIfAborted()
      const answer = async () => {
        for (const [index, outcome] of (await outcomesOf(unit)).entries()) add(unit[index] as Row, outcome)
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
    if (isBatch) {
      const items = unit.map(({ record }) => ({
        ...dataset.presumed,
        ...(dataset.toItem?.(record) ?? record),
      }))
      return writeBatch(sending, dataset, items, onExists)
    }
    return Promise.all(unit.map(({ record }) => put(sending, record).catch(refusalOf)))
  }

  function add(row: Row, outcome: Outcome): void {
    counts[outcome.kind] += 1
    if (outcome.kind !== 'failed') {
      if (!outcome.warning) return
      if (warned.rows === 0) warned.first = outcome.warning
      warned.rows += 1
      return
    }
    const rejection = {
      line: row.line,
      code: outcome.code,
      message: refusalText(dataset, row, labels, outcome),
      shown: shownRefusal(dataset, row, labels, outcome),
    }
    const mayBeFreed = dataset.unique !== undefined && onExists === 'update' && outcome.code === 'duplicate'
    if (mayBeFreed && taken.length < maxTaken) taken.push({ row, rejection })
    else rejections.push(rejection)
  }
}

const allSteps = ['all']

/** Rows that name the same record, or must keep the order of the file, are sent one after another. */
function lanesOf(dataset: Dataset, { record }: Row, isBatch: boolean): readonly string[] {
  // Checked rows have distinct names, except steps of progress, which may span units.
  const isStep = dataset.operations.update === undefined
  if (isBatch) return isStep ? allSteps : []
  const field = dataset.inOrderOf
  const order = field === undefined ? [] : [`in order of ${String(record[field])}`]
  return isStep ? [...namesOf(dataset, record), ...order] : order
}

/** Creates or changes one record, where the platform takes no batches. */
async function put(sending: Sending, given: JsonObject): Promise<Outcome> {
  const { dataset, finder, isOurs, names, onExists } = sending
  const { create, params, update } = dataset.operations
  const record = await sending.resolve(given)
  // A learnctl server refuses a second record, and records that are set as a whole are set again.
  const needsFind = update === undefined ? onExists !== 'update' : !isOurs || onExists !== 'fail'
  const isFindable = needsFind && finder !== null && keyOf(dataset, record) !== null
  const found = isFindable ? (await finder.find(record)).shown : null
  if (found) return change(sending, record, found)
  try {
    const body = await dataset.toBody({ ...dataset.presumed, ...record }, null, names)
    const { data } = await write(sending, create, { params: update ? {} : params(record), body })
    if (update) return { kind: 'created' }
    const warnings = isJsonObject(data) && Array.isArray(data['warnings']) ? data['warnings'] : []
    return { kind: 'updated', warning: warnings.map((warning) => String(warning.detail))[0] ?? null }
  } catch (error) {
    // The next import finds it, unless the platform cannot be asked.
    if (error instanceof AmbiguousError && !isOurs && update && !isFindable) return unconfirmed
    if (!(error instanceof ApiError && error.status === 409 && isFindable)) throw error
    // Another import may have created it since.
    const now = (await finder.find(record)).shown
    if (now) return change(sending, record, now)
    const restored = await restoreTaken(sending, record, error)
    if (restored === null) throw error
    const outcome = await change(sending, record, restored)
    return outcome.kind === 'unchanged' ? { kind: 'updated' } : outcome
  }
}

/** Restores it from the trash, with what was deleted with it. Null for another refusal, or a lesson of another course. */
async function restoreTaken(
  sending: Sending,
  { courseId }: JsonObject,
  { code, problem }: ApiError,
): Promise<JsonObject | null> {
  const { caller, dataset, names, notes, onExists, signal } = sending
  const { id, existingStatus } = problem ?? {}
  if (code !== 'duplicate' || existingStatus !== 'deleted' || onExists !== 'update') return null
  const isLesson = dataset.name === 'lessons'
  if (isLesson) {
    const query = { course_id: String((await names.course(String(courseId)))?.['id']), limit: maxPageSize }
    let isInCourse = false
    for await (const { data } of caller.pages(calls.lessons.listDeleted, { query, signal }))
      isInCourse ||= data.some((lesson) => lesson.id === id)
    if (!isInCourse) return null
  }
  const { data } = isLesson
    ? await write(sending, calls.lessons.restoreDeleted, { params: { deletedLessonId: String(id) } })
    : await write(sending, calls.courses.restoreDeleted, { params: { deletedCourseId: String(id) } })
  notes.add(`Restored from the trash: ${dataset.noun} ${thingName(data)}`)
  return isJsonObject(data) ? data : null
}

async function change(sending: Sending, given: JsonObject, shown: JsonObject): Promise<Outcome> {
  const { dataset, isOurs, names, onExists } = sending
  const { params, update } = dataset.operations
  if (onExists === 'skip') return { kind: 'skipped' }
  if (onExists === 'fail' || !update) return failed('duplicate', `the ${dataset.noun} already exists`)
  const record = restoring(given, shown)
  // A learnctl server compares; another platform may not offer updates, or count each as a change.
  if (!isOurs && (await columnsChanged(sending, record, shown)).length === 0) return { kind: 'unchanged' }
  const version = versionOf(shown)
  const body = await dataset.toBody(record, shown, names)
  const { data } = await write(sending, update, { params: params(shown), body })
  const isSame = version !== undefined && versionOf(data) === version
  return { kind: isSame ? 'unchanged' : 'updated' }
}

/** Collects warnings, and prints the id of what was changed. */
async function write(
  { caller, notes, signal, printIds }: Sending,
  operation: Call,
  input: CallInput<Operation>,
): Promise<Result<unknown>> {
  const result = await caller.call<Operation>(operation, { ...input, signal })
  const { warnings, course } = isJsonObject(result.data) ? result.data : {}
  if (operation.id === 'courses.update' && Array.isArray(warnings)) {
    for (const { detail } of warnings) notes.add(`Course ${thingName(course)}: ${String(detail)}`)
  }
  if (operation.holds.answer.includes('id') && !result.unchanged) await printIds?.([result.id])
  return result
}

function failed(code: string, detail: string): Outcome & Refusal {
  return { kind: 'failed', code, detail, faults: [] }
}

/** Neither created for sure nor found: sending such a record again could duplicate it. */
const unconfirmed = failed(
  'unconfirmed',
  'may have been created: nothing shows it, and the platform cannot be asked; check before you retry',
)

/** Statuses that concern one record; any other fault ends the work. */
const recordStatuses = [400, 404, 409, 412, 413, 422]
/** Maximum identical refusals in a row; beyond that the refusal concerns all records. */
const maxAlike = 3

function createRefusals(): (error: unknown) => Outcome {
  let last = ''
  let alike = 0
  return (error) => {
    // A platform may refuse a bad credential with a success status, for each record in turn.
    const text = error instanceof ProtocolError ? (error.answer?.body ?? '') : ''
    alike = text !== '' && text === last ? alike + 1 : 1
    last = text
    if (text !== '' && alike >= maxAlike) throw error
    if (error instanceof RecordError) {
      const { field: pointer, message: detail } = error
      return { ...failed('invalid_reference', detail), faults: [{ pointer, detail }] }
    }
    if (error instanceof ProtocolError && isAboutRecord(error)) {
      return failed(unconfirmed.code, `${error.message}; it may have been written`)
    }
    if (!(error instanceof ApiError) || !recordStatuses.includes(error.status)) throw error
    return { ...failed(error.code, error.detail), faults: error.faults }
  }
}

/** `users.errors.csv` for `users.csv`. */
export function errorsFileOf({ name, format }: Pick<ImportFile, 'name' | 'format'>): string {
  const ending = format === 'tsv' ? 'tsv' : 'csv'
  if (name === 'standard input') return `errors.${ending}`
  const plain = name.replace(/\.gz$/i, '')
  const stem = basename(plain, extname(plain)).replace(/\.errors(-\d+)?$/, '')
  return join(dirname(plain), `${stem}.errors.${ending}`)
}

/** `users.errors.csv`, `users.errors-2.csv` and so on; `taken` is the last that exists. */
async function findFreeName(cwd: string, name: string): Promise<{ free: string; taken: string | undefined }> {
  const ending = extname(name)
  let taken: string | undefined
  for (let number = 1; ; number += 1) {
    const free = number === 1 ? name : `${name.slice(0, -ending.length)}-${number}${ending}`
    if ((await stat(resolve(cwd, free)).catch(() => null)) === null) return { free, taken }
    taken = free
  }
}

const knownDelimiters = [',', ';', '\t', '|']

/**
 * Writes the rejected rows of a file in its own form: its header, separator and cells, then line, code and message.
 * The header has the mapping of the import, too, so that the corrected file can be imported as it is. A file that exists may have been
 * corrected, so it is only replaced if the user named it. Returns the name of the file with the rows: the last one, if it has
 * the same rows.
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
  const kept = header.flatMap((name, index) => (isAddedColumn(name, map) ? [] : [{ name, index }]))
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
