import { CellError, readCell } from '../dataset/cell.ts'
import { grades } from '../dataset/grades.ts'
import { addSchemaProblems, namedColumns, readDay } from './entries.ts'
import { readTable } from './oneroster-rows.ts'
import type { RosterEntry } from './roster.ts'
import type { RosterRow } from './row.ts'
import { claim, type Reading, ranks } from './walk.ts'

/** Line item of a package: what results are about. */
interface LineItem {
  readonly courseId: string
  readonly itemId: string
  readonly label: string
  readonly scoreMaximum: number
  readonly categoryId: string
}

/** Source that a grade has if none is declared. */
const source = 'manual'
const resultColumns = {
  learnerId: 'studentSourcedId',
  courseId: 'lineItemSourcedId',
  itemId: 'lineItemSourcedId',
  scoreGiven: 'score',
  gradedAt: 'scoreDate',
}
const gradeDataset = namedColumns(grades, resultColumns)

/**
 * Reads results with their line items and categories as grades. The id of a line item is that of the graded item, without
 * the id of its class and a colon in front; the weight of a category is divided by its line items in the class.
 */
export async function* readResults(reading: Reading): AsyncGenerator<readonly RosterEntry[]> {
  const weights = new Map<string, number>()
  const items = new Map<string, LineItem>()
  /** Number of line items by class and category. */
  const counts = new Map<string, number>()
  const shareOf = ({ courseId, categoryId }: LineItem) => `${courseId}\n${categoryId}`

  yield* readTable(reading, 'categories', (row, isRemoved) => {
    const weight = isRemoved ? undefined : numberIn(row, 'weight')
    if (weight !== undefined) weights.set(row.text('sourcedId'), weight)
    return []
  })
  yield* readTable(reading, 'lineItems', (row, isRemoved) => {
    if (isRemoved)
      return row.leaveOut('removed line items are left out; grades are never removed by a roster')
    const item = lineItemOf(row)
    items.set(row.text('sourcedId'), item)
    counts.set(shareOf(item), (counts.get(shareOf(item)) ?? 0) + 1)
    return []
  })
  yield* readTable(reading, 'results', (row, isRemoved) => {
    if (isRemoved) return row.leaveOut('removed results are left out; grades are never removed by a roster')
    const id = row.text('lineItemSourcedId')
    const item = items.get(id)
    if (!item) {
      row.addProblem(
        'lineItemSourcedId',
        'unknown_reference',
        'is not in lineItems, which names its class',
        id,
      )
      return []
    }
    const weight = weights.get(item.categoryId)
    const share = weight === undefined ? undefined : weight / (counts.get(shareOf(item)) ?? 1)
    return gradeOf(reading, row, item, share)
  })
}

function lineItemOf(row: RosterRow): LineItem {
  const [id, course] = [row.text('sourcedId'), row.text('classSourcedId')]
  const minimum = numberIn(row, 'resultValueMin')
  if (minimum) row.addLeniency('scores that begin above 0 are read as they are', String(minimum))
  return {
    courseId: `ext:${course}`,
    itemId: id.startsWith(`${course}:`) ? id.slice(course.length + 1) : id,
    label: row.text('title'),
    scoreMaximum: numberIn(row, 'resultValueMax') ?? 100,
    categoryId: row.text('categorySourcedId'),
  }
}

function gradeOf(
  reading: Reading,
  row: RosterRow,
  { courseId, itemId, label, scoreMaximum }: LineItem,
  share: number | undefined,
): readonly RosterEntry[] {
  const status = row.text('scoreStatus').toLowerCase()
  const scoreGiven = numberIn(row, 'score')
  if (status === 'exempt') return row.leaveOut('results of exempt learners are left out')
  if (scoreGiven === undefined) return row.leaveOut('results without a score are left out', status)
  if (!['fully graded', 'partially graded'].includes(status)) {
    row.addLeniency('results are graded by their score, not by their status', status || 'empty')
  }
  const learnerId = `ext:${row.text('studentSourcedId')}`
  const day = readDay(row, 'scoreDate')
  const isAbove = scoreGiven > scoreMaximum
  if (isAbove) row.addLeniency('scores are above the maximum')
  const record = {
    ...{ courseId, learnerId, itemId, label, scoreGiven, scoreMaximum },
    ...(share !== undefined && { weight: Math.round(share * 10_000) / 10_000 }),
    ...(day !== null && { gradedAt: `${day}T00:00:00.000Z` }),
    published: status !== 'partially graded',
    extraCredit: isAbove,
  }
  addSchemaProblems(row, gradeDataset, record)
  const key = [courseId, learnerId, itemId, source].join('\n')
  if (row.hasProblem || !claim(reading, 'grades', 'grade', key, row, ranks.active)) return []
  return [{ dataset: 'grades', key, record, place: { file: row.file, line: row.line } }]
}

/** Reads a number; undefined for an empty cell. Other text is a problem. */
function numberIn(row: RosterRow, column: string): number | undefined {
  const text = row.text(column)
  try {
    const value = readCell({ kind: 'number' }, text, { now: Number.NaN })
    return value === undefined ? undefined : Number(value)
  } catch (error) {
    if (!(error instanceof CellError)) throw error
    row.addProblem(column, 'invalid_type', error.message, text)
    return undefined
  }
}
