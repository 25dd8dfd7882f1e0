import { itemNameOf, withId } from '../../codec/item-name.ts'
import { wholeCourse } from '../../contract/constants.ts'
import type { GradebookGrade, GradebookItem, GradebookRow } from '../../contract/grades.ts'
import type { Column } from '../output/columns.ts'

export type GradebookSystem = 'canvas' | 'moodle' | 'openedx'

type Cell = string | number | boolean | null

/** Layout of a gradebook: a row per learner, a column per item. */
export interface GradebookLayout {
  /** Columns with the paths of their cells in a row of `rowOf`. */
  readonly columns: readonly Column[]
  /** Columns of a table on a terminal, the most important ones first. */
  readonly table: readonly Column[]
  readonly head: readonly Readonly<Record<string, Cell>>[]
  rowOf(row: GradebookRow): Readonly<Record<string, Cell>>
}

interface LayoutColumn {
  readonly name: string
  readonly cell: (row: GradebookRow, gradesByItem: GradesByItem) => Cell
  /** Cell of the row of maxima, where a layout has one. */
  readonly maximum?: Cell
}

type GradesByItem = ReadonlyMap<string, GradebookGrade>

/** Returns the layout of the program's own gradebook: percentages, and items as `name (id)`; without names for pseudonyms. */
export function ownLayout(items: readonly GradebookItem[], isPseudonymised: boolean): GradebookLayout {
  const names = uniqueNames(items.map(itemNameOf))
  const graded = items.map(({ itemId }, index): LayoutColumn => {
    return { name: names[index] ?? itemId, cell: (_, grades) => grades.get(itemId)?.percent ?? null }
  })
  const fixed = (name: Exclude<keyof GradebookRow, 'grades'>): LayoutColumn => ({
    name,
    cell: (row) => row[name],
  })
  const who = isPseudonymised ? [] : [fixed('email'), fixed('firstName'), fixed('lastName')]
  const whole = [fixed('gradePercent'), fixed('passed')]
  const columns = [fixed('learnerId'), ...who, fixed('externalId'), fixed('enrollmentStatus'), ...whole]
  const layout = layoutOf([...columns, ...graded])
  const first = [isPseudonymised ? 'learnerId' : 'email', 'gradePercent', 'passed']
  return {
    ...layout,
    table: [
      ...first.flatMap((name) => layout.columns.find(({ label }) => label === name) ?? []),
      ...layout.columns.slice(columns.length),
    ],
  }
}

/** Returns the layout in which a system exports its gradebook; `course` is the title of the course. */
export function layoutFor(
  system: GradebookSystem,
  items: readonly GradebookItem[],
  course: string,
): GradebookLayout {
  const own = items.filter(({ itemId }) => itemId !== wholeCourse)
  if (system === 'canvas') return canvasLayout(own, course)
  return system === 'moodle' ? moodleLayout(own) : openEdxLayout(own)
}

const readOnly = '(read only)'

/**
 * Canvas: names as `Last, First`, points, and their maxima in a second row. Sources: lib/gradebook_exporter.rb in
 * instructure/canvas-lms@0140a2ef, and lib/gradebook_importer.rb@00b222d7, which finds people by `SIS User ID` or `SIS Login ID`.
 */
function canvasLayout(items: readonly GradebookItem[], course: string): GradebookLayout {
  const names = uniqueNames(items.map(itemNameOf))
  const totals = ['Current Score', 'Unposted Current Score', 'Final Score', 'Unposted Final Score']
  return layoutOf(
    [
      { name: 'Student', cell: (row) => sortableName(row), maximum: '    Points Possible' },
      { name: 'ID', cell: () => null },
      { name: 'SIS User ID', cell: ({ externalId }) => externalId },
      { name: 'SIS Login ID', cell: ({ email }) => email },
      { name: 'Section', cell: () => course },
      ...items.map((item, index): LayoutColumn => {
        return {
          name: names[index] ?? item.itemId,
          cell: (_, grades) => pointsIn(item, grades.get(item.itemId)),
          maximum: item.scoreMaximum,
        }
      }),
      ...totals.map((name): LayoutColumn => {
        return { name, cell: ({ gradePercent }) => gradePercent, maximum: readOnly }
      }),
    ],
    true,
  )
}

/**
 * Moodle: the columns of the export as plain text with real grades and percentages. Sources: grade/export/txt/grade_export_txt.php and
 * format_column_name() of grade/export/lib.php in moodle/moodle@04975560.
 */
function moodleLayout(items: readonly GradebookItem[]): GradebookLayout {
  const names = plainNames(items)
  const percentage = (value: number | null | undefined) =>
    value === null || value === undefined ? null : `${value} %`
  return layoutOf([
    { name: 'First name', cell: ({ firstName }) => firstName },
    { name: 'Last name', cell: ({ lastName }) => lastName },
    { name: 'ID number', cell: ({ externalId }) => externalId },
    { name: 'Institution', cell: () => null },
    { name: 'Department', cell: () => null },
    { name: 'Email address', cell: ({ email }) => email },
    ...items.flatMap((item, index): LayoutColumn[] => [
      {
        name: `${names[index]} (Real)`,
        cell: (_, grades) => pointsIn(item, grades.get(item.itemId)),
      },
      {
        name: `${names[index]} (Percentage)`,
        cell: (_, grades) => percentage(grades.get(item.itemId)?.percent),
      },
    ]),
    { name: 'Course total (Percentage)', cell: ({ gradePercent }) => percentage(gradePercent) },
  ])
}

/** Type of assignment that all items have in the layout of Open edX. */
const assignmentType = 'Assignment'

/**
 * Open edX: the course grade report, with shares of 1. Source: CourseGradeReport in
 * lms/djangoapps/instructor_task/tasks_helper/grades.py of openedx/openedx-platform@05ba5d54.
 */
function openEdxLayout(items: readonly GradebookItem[]): GradebookLayout {
  const names = plainNames(items)
  const share = (percent: number | null | undefined) =>
    percent === null || percent === undefined ? null : percent / 100
  const shares = items.map(({ itemId }, index): LayoutColumn => {
    return {
      name: `${assignmentType} ${index + 1}: ${names[index]}`,
      cell: (_, grades) => share(grades.get(itemId)?.percent) ?? 'Not Attempted',
    }
  })
  const mean: LayoutColumn = {
    name: `${assignmentType} (Avg)`,
    cell: (_, grades) =>
      items.reduce((sum, { itemId }) => sum + (share(grades.get(itemId)?.percent) ?? 0), 0) / items.length,
  }
  const [only] = shares
  return layoutOf([
    { name: 'Student ID', cell: ({ externalId, learnerId }) => externalId ?? learnerId },
    { name: 'Email', cell: ({ email }) => email },
    { name: 'Username', cell: ({ externalId, email }) => externalId ?? email },
    { name: 'Grade', cell: ({ gradePercent }) => share(gradePercent) ?? 0 },
    // A type with one assignment has one column, without the name of that one.
    ...(only && shares.length === 1 ? [{ ...only, name: assignmentType }] : shares),
    ...(shares.length > 1 ? [mean] : []),
    { name: 'Enrollment Track', cell: () => 'audit' },
    { name: 'Verification Status', cell: () => 'N/A' },
    { name: 'Certificate Eligible', cell: ({ passed }) => (passed ? 'Y' : 'N') },
    { name: 'Certificate Delivered', cell: () => 'N' },
    { name: 'Certificate Type', cell: () => 'N/A' },
    {
      name: 'Enrollment Status',
      cell: ({ enrollmentStatus }) => (enrollmentStatus === 'inactive' ? 'unenrolled' : 'enrolled'),
    },
  ])
}

/** Returns the points of a grade on the scale of the item, to which grades with another maximum are converted. */
function pointsIn({ scoreMaximum }: GradebookItem, grade: GradebookGrade | undefined): number | null {
  if (!grade) return null
  return grade.scoreMaximum === scoreMaximum ? grade.scoreGiven : (grade.percent * scoreMaximum) / 100
}

function sortableName({ lastName, firstName, email }: GradebookRow): string {
  const name = [lastName, firstName].filter((part) => part).join(', ')
  return name === '' ? email : name
}

/** Returns the names of items, those of several items with their ids. */
function plainNames(items: readonly GradebookItem[]): string[] {
  const plain = (item: GradebookItem) => (item.label === '' ? item.itemId : item.label)
  const shared = new Set(
    [...Map.groupBy(items, plain)].flatMap(([name, own]) => (own.length > 1 ? [name] : [])),
  )
  return uniqueNames(items.map((item) => (shared.has(plain(item)) ? withId(item) : plain(item))))
}

/** Numbers names that occur before. */
function uniqueNames(names: readonly string[]): string[] {
  const used = new Set<string>()
  return names.map((name) => {
    let unique = name
    for (let count = 2; used.has(unique); count += 1) unique = `${name} #${count}`
    used.add(unique)
    return unique
  })
}

function layoutOf(columns: readonly LayoutColumn[], hasMaxima = false): GradebookLayout {
  // Names may have dots, which paths must not.
  const labelled = columns.map(({ name }, index) => ({ label: name, path: `c${index}` }))
  const rowFrom = (cells: readonly Cell[]) =>
    Object.fromEntries(labelled.map(({ path }, index) => [path, cells[index] ?? null]))
  return {
    columns: labelled,
    table: labelled,
    head: hasMaxima ? [rowFrom(columns.map(({ maximum = null }) => maximum))] : [],
    rowOf: (row) => {
      const gradesByItem = new Map(row.grades.map((grade) => [grade.itemId, grade]))
      return rowFrom(columns.map(({ cell }) => cell(row, gradesByItem)))
    },
  }
}
