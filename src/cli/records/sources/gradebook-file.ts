import { removeGuard } from '../../../codec/csv.ts'
import { readItemName } from '../../../codec/item-name.ts'
import { UsageError } from '../../terminal/errors.ts'
import { pluralise } from '../../terminal/format-text.ts'
import { type Io, note } from '../../terminal/io.ts'
import { csvTable, type Table } from './csv.ts'
import { type ImportFile, inspectFile, openImportFile, type Place, sentence } from './file.ts'
import type { Mapping } from './mapping.ts'

type OpenGiven = Pick<Mapping, 'charset' | 'delimiter' | 'sheet'>

/**
 * Opens a gradebook, with a row per learner and a column per item, as a file of grades to import in a course. Reads the
 * columns of `grades report`, in all of its layouts. Throws a UsageError for other columns.
 */
export async function openGradebook(
  io: Pick<Io, 'cwd' | 'stdin' | 'signal' | 'stderr'>,
  path: string,
  course: string,
  { charset, delimiter, sheet }: OpenGiven,
): Promise<ImportFile> {
  const file = await openImportFile(io, path, { charset, delimiter, sheet, format: 'csv' })
  let excused = 0
  /** File line and column of each grade. */
  const places: Place[] = []
  async function* bytes() {
    excused = 0
    let count = 0
    const table = await csvTable(file, delimiter)
    const layout = layoutIn(table, file.name)
    const problems: string[] = []
    for await (const records of table.records) {
      let text = ''
      for (const { line, cells } of records) {
        const read = gradesIn(cells, layout)
        excused += read.excused
        problems.push(
          ...read.problems.map((problem) => `${file.name}:${file.placeOf?.(line).line ?? line}: ${problem}`),
        )
        if (problems.length >= maxProblems) throw refused(file.name, problems)
        for (const { column, ...grade } of read.grades) {
          places[count] = { line: file.placeOf?.(line).line ?? line, column }
          count += 1
          text += `${JSON.stringify({ ...grade, courseId: course })}\n`
        }
      }
      yield Buffer.from(text)
    }
    if (problems.length > 0) throw refused(file.name, problems)
  }
  const grades = await inspectFile({ name: file.name, path: file.path, bytes }, { format: 'jsonl' })
  if (excused > 0) await note(io, `${pluralise(excused, 'excused grade')} left out`)
  return { ...grades, placeOf: (line) => places[line - 1] ?? { line } }
}

const maxProblems = 20

function refused(name: string, problems: readonly string[]): UsageError {
  const shown = problems.slice(0, maxProblems)
  return new UsageError(`${sentence(name)} cannot be read as a gradebook`, {
    code: 'invalid_type',
    why: [...shown, ...(problems.length >= maxProblems ? ['There may be more problems'] : [])],
    hint: 'Correct these cells, or empty them',
  })
}

/** A column of scores. */
interface ItemColumn {
  readonly index: number
  /** Name of the column in the file. */
  readonly name: string
  readonly itemId: string
  readonly label: string
  /** Score that counts as 100%; null if a row says so. */
  readonly maximum: number | null
}

/** Meaning of the columns of a gradebook. */
interface ReadLayout {
  readonly items: readonly ItemColumn[]
  /** Returns the reference of the learner of a row; empty if the row names none. */
  learnerOf(cells: readonly string[]): string
  /** Maxima by column, read from the file. */
  readonly maxima: Map<number, number>
  readonly hasDecimalComma: boolean
}

/** Cells without a score, in any of the layouts. */
const noScores = ['', '-', 'n/a', 'not attempted', 'not available']

function gradesIn(cells: readonly string[], layout: ReadLayout) {
  const { items, maxima } = layout
  if (/^points possible$/i.test((cells[0] ?? '').trim())) {
    for (const { index } of items) {
      const maximum = numberIn(cells[index] ?? '', layout)
      if (maximum !== null && maximum > 0) maxima.set(index, maximum)
    }
    return noGrades
  }
  // Canvas has a row that names the assignments which are posted by hand.
  const isAboutItems = cells.every((cell) => /^\s*(muted|manual posting.*)?\s*$/i.test(cell))
  if (isAboutItems) return noGrades
  const texts = items.map((item) => ({ item, text: removeGuard((cells[item.index] ?? '').trim()) }))
  const isExcused = (text: string) => text.toLowerCase() === 'ex'
  const scored = texts.filter(({ text }) => !isExcused(text) && !noScores.includes(text.toLowerCase()))
  const learnerId = layout.learnerOf(cells)
  return {
    excused: texts.filter(({ text }) => isExcused(text)).length,
    problems: [
      ...(learnerId === '' && scored.length > 0 ? ['names no learner'] : []),
      ...scored.flatMap(({ item, text }) =>
        numberIn(text, layout) === null
          ? [`${JSON.stringify(item.name)} must be a number, not ${JSON.stringify(text)}`]
          : [],
      ),
    ],
    grades: scored.map(({ item: { index, name: column, itemId, label, maximum }, text }) => ({
      ...{ column, learnerId, itemId, label },
      scoreGiven: numberIn(text, layout),
      scoreMaximum: maximum ?? maxima.get(index) ?? 100,
    })),
  }
}

const noGrades = { grades: [], problems: [], excused: 0 }

/** Reads a number, without the sign of a percentage; null for any other text. */
function numberIn(cell: string, { hasDecimalComma }: Pick<ReadLayout, 'hasDecimalComma'>): number | null {
  const text = cell.trim().replace(/\s*%$/, '')
  const plain = hasDecimalComma ? text.replace(',', '.') : text
  return /^-?\d+(\.\d+)?(e-?\d+)?$/i.test(plain) ? Number(plain) : null
}

/** Returns the layout of a file by its header. Throws a UsageError for any other header. */
function layoutIn({ header: cells, delimiter }: Table, name: string): ReadLayout {
  const header = cells.map(removeGuard)
  const has = (...names: readonly string[]) => names.every((each) => header.includes(each))
  const common = { maxima: new Map<number, number>(), hasDecimalComma: delimiter !== ',' }
  if (has('learnerId', 'gradePercent')) {
    const items = columnsBetween(header, 'passed', undefined)
    return {
      ...common,
      items: items.map((column) => ({ ...column, ...readItemName(column.label), maximum: 100 })),
      learnerOf: learnerBy(header, ['externalId'], ['email']),
    }
  }
  if (has('ID', 'Section') && (has('Student') || has('LastName', 'FirstName'))) {
    // Columns of totals, also of assignment groups, and those of the final grade.
    const isTotal = /\b(Current|Final) (Score|Points|Grade)\b|^Override (Score|Grade|Status)\b/
    const items = columnsBetween(header, 'Section', undefined).filter(({ label }) => !isTotal.test(label))
    return {
      ...common,
      items: items.map((column) => ({ ...column, ...readItemName(column.label), maximum: null })),
      learnerOf: learnerBy(header, ['SIS User ID'], ['SIS Login ID']),
    }
  }
  if (has('Email address') && header.some((label) => displayed.test(label))) {
    return {
      ...common,
      items: moodleItems(header),
      learnerOf: learnerBy(header, ['ID number'], ['Email address']),
    }
  }
  if (has('Student ID', 'Email', 'Grade')) {
    const own = columnsBetween(header, 'Grade', 'Enrollment Track')
    const items = own.filter(({ label }) => !label.endsWith(' (Avg)') && !openEdxExtras.test(label))
    return {
      ...common,
      items: items.map((column) => {
        const label = column.label.replace(/^.+? \d+: /, '')
        return { ...column, itemId: label, label, maximum: 1 }
      }),
      learnerOf: learnerBy(header, [], ['Email']),
    }
  }
  throw new UsageError(`${sentence(name)} is not a gradebook`, {
    code: 'unknown_layout',
    why: [
      'Expected the columns of grades report, or those that Canvas, Moodle or Open edX export',
      `Columns: ${header.slice(0, 20).join(', ')}`,
    ],
    hint: 'For a file with one row per grade, leave out --gradebook',
  })
}

/** Columns of a course with cohorts, experiments or teams. */
const openEdxExtras = /^(Cohort Name|Team Name|Experiment Group \(.*\))$/

/** End of a column of Moodle: the name of the item is before it. */
const displayed = / \((Real|Percentage)\)$/

/** Prefers percentages: real grades have no maximum in the file, and are taken as of 100. */
function moodleItems(header: readonly string[]): ItemColumn[] {
  const all = header.flatMap((label, index) =>
    displayed.test(label)
      ? [{ index, name: label, label: label.replace(displayed, ''), isShare: label.endsWith('(Percentage)') }]
      : [],
  )
  return [...Map.groupBy(all, ({ label }) => label)]
    .filter(([label]) => label !== 'Course total')
    .flatMap(([label, own]) => {
      const column = own.find(({ isShare }) => isShare) ?? own[0]
      return column ? [{ ...column, itemId: label, maximum: 100 }] : []
    })
}

function columnsBetween(
  header: readonly string[],
  after: string,
  before: string | undefined,
): Pick<ItemColumn, 'index' | 'name' | 'label'>[] {
  const end = before === undefined ? -1 : header.indexOf(before)
  return header
    .map((label, index) => ({ index, name: label, label }))
    .slice(header.indexOf(after) + 1, end < 0 ? undefined : end)
    .filter(({ label }) => label !== '')
}

/** Returns a function that reads the reference of a learner: an external id, else an address. */
function learnerBy(
  header: readonly string[],
  ids: readonly string[],
  addresses: readonly string[],
): ReadLayout['learnerOf'] {
  const places = (names: readonly string[]) =>
    names.map((name) => header.indexOf(name)).filter((index) => index >= 0)
  const [idPlaces, addressPlaces] = [places(ids), places(addresses)]
  const valueIn = (cells: readonly string[], indexes: readonly number[]) =>
    indexes.map((index) => removeGuard((cells[index] ?? '').trim())).find((text) => text !== '')
  return (cells) => {
    const id = valueIn(cells, idPlaces)
    if (id !== undefined) return `ext:${id}`
    const address = valueIn(cells, addressPlaces)
    if (address === undefined) return ''
    return address.includes('@') ? `email:${address}` : `ext:${address}`
  }
}
