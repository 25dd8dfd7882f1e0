import { removeGuard } from '../../../codec/csv.ts'
import { readItemName } from '../../../codec/item-name.ts'
import { UsageError } from '../../terminal/errors.ts'
import { pluralise } from '../../terminal/format-text.ts'
import { type Io, note } from '../../terminal/io.ts'
import { csvTable, type Table } from './csv.ts'
import { type ImportFile, inspectFile, openImportFile, type Place, sentence } from './file.ts'
import type { Mapping } from './mapping.ts'

type OpenGiven = Pick<Mapping, 'charset' | 'delimiter' | 'sheet'>

/** Reads the columns of `grades report` in all of its layouts. Throws a UsageError for other columns. */
export async function openGradebook(
  io: Pick<Io, 'cwd' | 'stdin' | 'signal' | 'stderr'>,
  path: string,
  course: string,
  { charset, delimiter, sheet }: OpenGiven,
): Promise<ImportFile> {
  const file = await openImportFile(io, path, { charset, delimiter, sheet, format: 'csv' })
  let excused = 0
  const places: Place[] = []
  async function* bytes() {
    excused = 0
    let count = 0
    const table = await csvTable(file, delimiter)
    const gradebook = readHeader(table, file.name)
    const problems: string[] = []
    for await (const records of table.records) {
      let text = ''
      for (const { line, cells } of records) {
        const read = gradesIn(cells, gradebook)
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

interface ItemColumn {
  readonly index: number
  readonly name: string
  readonly itemId: string
  readonly label: string
  /** Score of 100%; null if a row says so. */
  readonly maximum: number | null
}

interface Gradebook {
  readonly items: readonly ItemColumn[]
  /** Empty if the row names none. */
  learnerOf(cells: readonly string[]): string
  readonly maxima: Map<number, number>
  readonly hasDecimalComma: boolean
}

const noScores = ['', '-', 'n/a', 'not attempted', 'not available']

function gradesIn(cells: readonly string[], gradebook: Gradebook) {
  const { items, maxima } = gradebook
  if (/^points possible$/i.test((cells[0] ?? '').trim())) {
    for (const { index } of items) {
      const maximum = numberIn(cells[index] ?? '', gradebook)
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
  const learnerId = gradebook.learnerOf(cells)
  return {
    excused: texts.filter(({ text }) => isExcused(text)).length,
    problems: [
      ...(learnerId === '' && scored.length > 0 ? ['names no learner'] : []),
      ...scored.flatMap(({ item, text }) =>
        numberIn(text, gradebook) === null
          ? [`${JSON.stringify(item.name)} must be a number, not ${JSON.stringify(text)}`]
          : [],
      ),
    ],
    grades: scored.map(({ item: { index, name: column, itemId, label, maximum }, text }) => ({
      ...{ column, learnerId, itemId, label },
      scoreGiven: numberIn(text, gradebook),
      scoreMaximum: maximum ?? maxima.get(index) ?? 100,
    })),
  }
}

const noGrades = { grades: [], problems: [], excused: 0 }

/** Reads a number, without the sign of a percentage; null for any other text. */
function numberIn(cell: string, { hasDecimalComma }: Pick<Gradebook, 'hasDecimalComma'>): number | null {
  const text = cell.trim().replace(/\s*%$/, '')
  const plain = hasDecimalComma ? text.replace(',', '.') : text
  return /^-?\d+(\.\d+)?(e-?\d+)?$/i.test(plain) ? Number(plain) : null
}

interface Layout {
  /** Sets of columns, one of which shows the layout. */
  readonly columns: readonly (readonly string[])[]
  items(header: readonly string[]): readonly ItemColumn[]
  readonly id: string
  /** Column of the address, or of the id under which the learner signs in. */
  readonly address: string
}

/** Totals, also of assignment groups, and the final grade. */
const canvasTotals = /\b(Current|Final) (Score|Points|Grade)\b|^Override (Score|Grade|Status)\b/
/** Averages, and columns of a course with cohorts, experiments or teams. */
const openEdxExtras = / \(Avg\)$|^(Cohort Name|Team Name|Experiment Group \(.*\))$/
/** The name of the item is before it. */
const moodleScore = / \((Real|Percentage)\)$/

const layouts: readonly Layout[] = [
  {
    columns: [['learnerId', 'gradePercent']],
    items: (header) => columnsAfter(header, 'passed').map((column) => ({ ...column, maximum: 100 })),
    id: 'externalId',
    address: 'email',
  },
  {
    columns: [
      ['ID', 'Section', 'Student'],
      ['ID', 'Section', 'LastName', 'FirstName'],
    ],
    items: (header) => columnsAfter(header, 'Section').filter(({ name }) => !canvasTotals.test(name)),
    id: 'SIS User ID',
    address: 'SIS Login ID',
  },
  {
    columns: [['Email address']],
    items: moodleItems,
    id: 'ID number',
    address: 'Email address',
  },
  {
    columns: [['Student ID', 'Email', 'Grade']],
    items: (header) =>
      columnsAfter(header, 'Grade', 'Enrollment Track')
        .filter(({ name }) => !openEdxExtras.test(name))
        .map((column) => {
          const label = column.name.replace(/^.+? \d+: /, '')
          return { ...column, itemId: label, label, maximum: 1 }
        }),
    id: '',
    address: 'Email',
  },
]

/** Throws a UsageError for an unknown header. */
function readHeader({ header: cells, delimiter }: Table, name: string): Gradebook {
  const header = cells.map(removeGuard)
  const layout = layouts.find(
    ({ columns, items }) =>
      columns.some((set) => set.every((column) => header.includes(column))) &&
      (items !== moodleItems || header.some((column) => moodleScore.test(column))),
  )
  if (layout) {
    const places = [header.indexOf(layout.id), header.indexOf(layout.address)]
    return {
      items: layout.items(header),
      maxima: new Map(),
      hasDecimalComma: delimiter !== ',',
      learnerOf: (row) => {
        const [id, address] = places.map((place) => removeGuard((row[place] ?? '').trim()))
        if (id) return `ext:${id}`
        return address ? `${address.includes('@') ? 'email' : 'ext'}:${address}` : ''
      },
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

/** Prefers percentages: real grades have no maximum in the file, and are taken as of 100. */
function moodleItems(header: readonly string[]): readonly ItemColumn[] {
  const all = header.flatMap((name, index) => {
    const label = name.replace(moodleScore, '')
    return moodleScore.test(name) && label !== 'Course total'
      ? [{ index, name, itemId: label, label, maximum: 100 }]
      : []
  })
  return [...Map.groupBy(all, ({ label }) => label).values()].flatMap(
    (own) => own.find(({ name }) => name.endsWith('(Percentage)')) ?? own.slice(0, 1),
  )
}

function columnsAfter(header: readonly string[], after: string, before = ''): readonly ItemColumn[] {
  const end = before === '' ? -1 : header.indexOf(before)
  return header
    .map((name, index) => ({ index, name, ...readItemName(name), maximum: null }))
    .slice(header.indexOf(after) + 1, end < 0 ? undefined : end)
    .filter(({ name }) => name !== '')
}
