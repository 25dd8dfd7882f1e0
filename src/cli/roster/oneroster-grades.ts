import { wholeCourse } from '../../contract/constants.ts'
import { itemIn, joinIds, wholeCourseTitle } from '../../lms/oneroster-mapping.ts'
import { CellError, readCell } from '../dataset/cell.ts'
import { grades } from '../dataset/progress.ts'
import { isRemovedClass, readTable } from './oneroster-tables.ts'
import type { CsvRow, Reading } from './reading.ts'
import { gradeEntries, namedColumns, readDay } from './records.ts'
import type { RosterEntry } from './roster.ts'

interface LineItem {
  readonly courseId: string
  readonly itemId: string
  readonly label: string
  readonly scoreMaximum: number
  readonly categoryId: string
}

/** Source that a grade has if none is declared. */
const source = 'manual'
const gradeDataset = namedColumns(grades, {
  learnerId: 'studentSourcedId',
  courseId: 'lineItemSourcedId',
  itemId: 'lineItemSourcedId',
  scoreGiven: 'score',
  gradedAt: 'scoreDate',
})

export type LineItems = Awaited<ReturnType<typeof readLineItems>>

interface Category {
  readonly title: string
  readonly weight: number
}

/**
 * Reads line items with their categories. A category as exports write it, one for each weight of a course, is a weight of
 * that course; the weight of any other is divided by its line items in the class.
 */
export async function readLineItems(reading: Reading) {
  const categories = new Map<string, Category>()
  const byId = new Map<string, LineItem>()
  const counts = new Map<string, number>()
  const weightsByCourse = new Map<string, Map<string, number>>()
  const placeOf = ({ courseId, categoryId }: LineItem) => `${courseId}\n${categoryId}`
  const isOwn = ({ courseId, categoryId, label }: LineItem) =>
    categoryId === joinIds(courseId.slice('ext:'.length), label)

  // Categories without line items are not read.
  if (reading.files.has('lineItems')) {
    await readTable(reading, 'categories', (row, isRemoved) => {
      const weight = isRemoved ? undefined : numberIn(row, 'weight')
      if (weight !== undefined) categories.set(row.text('sourcedId'), { title: row.text('title'), weight })
      return []
    })
  }
  await readTable(reading, 'lineItems', (row, isRemoved) => {
    if (isRemoved)
      return row.leaveOut('removed line items are left out; grades are never removed by a roster')
    const item = lineItemOf(row)
    byId.set(row.text('sourcedId'), item)
    counts.set(placeOf(item), (counts.get(placeOf(item)) ?? 0) + 1)
    const weight = categories.get(item.categoryId)?.weight
    if (weight === undefined || !isOwn(item)) return []
    const weights = weightsByCourse.get(item.courseId) ?? new Map<string, number>()
    weightsByCourse.set(item.courseId, weights.set(item.label, weight))
    return []
  })
  return {
    byId,
    /** Returns the share of an item in the grade; undefined if the course has its weight, or it has none. */
    shareOf(item: LineItem): number | undefined {
      const weight = categories.get(item.categoryId)?.weight
      return weight === undefined || isOwn(item) ? undefined : weight / (counts.get(placeOf(item)) ?? 1)
    },
    /** By the titles of the items. */
    weightsOf: (courseId: string) =>
      [...(weightsByCourse.get(courseId) ?? [])].map(([name, weight]) => ({ name, weight })),
  }
}

/** Reads results as grades. The id of a line item is that of the graded item, without the id of its class in front. */
export function readResults(reading: Reading, { byId, shareOf }: LineItems): Promise<void> {
  return readTable(reading, 'results', (row, isRemoved) => {
    if (isRemoved) return row.leaveOut('removed results are left out; grades are never removed by a roster')
    const id = row.text('lineItemSourcedId')
    const item = byId.get(id)
    if (!item) {
      const message = 'is not in lineItems, which names its class'
      row.addProblem('lineItemSourcedId', 'unknown_reference', message, id)
      return []
    }
    return gradeOf(reading, row, item, shareOf(item))
  })
}

function lineItemOf(row: CsvRow): LineItem {
  const [id, course] = [row.text('sourcedId'), row.text('classSourcedId')]
  const minimum = numberIn(row, 'resultValueMin')
  if (minimum) row.addLeniency('scores that begin above 0 are read as they are', String(minimum))
  return {
    courseId: `ext:${course}`,
    itemId: itemIn(id, course),
    label: row.text('title'),
    scoreMaximum: numberIn(row, 'resultValueMax') ?? 100,
    categoryId: row.text('categorySourcedId'),
  }
}

function gradeOf(
  reading: Reading,
  row: CsvRow,
  { courseId, itemId, label: title, scoreMaximum }: LineItem,
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
  const enrollment = [courseId, learnerId, 'learner'].join('\n')
  const isGone =
    isRemovedClass(reading, courseId.slice('ext:'.length)) ||
    reading.isRemovedRow('users', row.text('studentSourcedId')) ||
    reading.records('enrollments').get(enrollment)?.isRemoved
  if (isGone) return row.leaveOut('results of removed classes, users and enrolments are left out')
  const day = readDay(row, 'scoreDate')
  // The title that exports write for an item without a label.
  const label = title === (itemId === wholeCourse ? wholeCourseTitle : itemId) ? '' : title
  const isAbove = scoreGiven > scoreMaximum
  if (isAbove) row.addLeniency('scores are above the maximum')
  const record = {
    ...{ courseId, learnerId, itemId, label, scoreGiven, scoreMaximum },
    ...(share !== undefined && { weight: Math.round(share * 10_000) / 10_000 }),
    ...(day !== null && { gradedAt: `${day}T00:00:00.000Z` }),
    published: status !== 'partially graded',
    extraCredit: isAbove,
  }
  return gradeEntries(row, gradeDataset, record, source, day === null ? [] : ['gradedAt'])
}

/** Undefined for an empty cell. Other text is a problem. */
function numberIn(row: CsvRow, column: string): number | undefined {
  const text = row.text(column)
  try {
    const value = readCell({ kind: 'number' }, text, row.cellForm)
    return value === undefined ? undefined : Number(value)
  } catch (error) {
    if (!(error instanceof CellError)) throw error
    row.addProblem(column, 'invalid_type', error.message, text)
    return undefined
  }
}
