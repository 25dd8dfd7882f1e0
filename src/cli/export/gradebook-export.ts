import type { Page } from '../../client/call.ts'
import { formatCount } from '../../codec/display-text.ts'
import { itemNameOf, withId } from '../../codec/item-name.ts'
import { calls } from '../../contract/calls.ts'
import { maxGradebookItems, maxPageSize, wholeCourse } from '../../contract/constants.ts'
import type { GradebookGrade, GradebookItem, GradebookPage, GradebookRow } from '../../contract/grades.ts'
import type { Operation } from '../../contract/operation.ts'
import type { EncodedColumn } from '../../tables/column.ts'
import type { Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import type { BoundFlag } from '../command/flag.ts'
import { showRequest } from '../operation/dry-run.ts'
import { queryOf } from '../operation/operation-flags.ts'
import { type Column, resolvePath } from '../output/columns.ts'
import { typeColumns } from '../output/formats/format.ts'
import { pseudonymisingOf } from '../pseudonyms/pseudonym-flags.ts'
import { type Batches, encodedSource, type Source, writeExport } from '../targets/write-export.ts'
import { UsageError } from '../terminal/errors.ts'
import { pluralise } from '../terminal/format-text.ts'
import { exportOptionsOf } from './export-options.ts'
import type { PrivacyStep } from './privacy-step.ts'
import { listEncoder, type RowForm } from './row-encoder.ts'

/** `system` names the layout; undefined for own columns. */
export async function exportGradebook(
  context: Context,
  given: Given,
  filters: readonly BoundFlag[],
  system: GradebookSystem | undefined,
): Promise<void> {
  const { io, session, settings } = context
  const asked = optionsOf(context, given, system)
  const privacy = await privacyOf(context, given, system)
  privacy?.assertKept(asked.columns)
  const caller = await session.caller()
  const operation: Operation = calls.grades.report
  const params = { courseId: given.arguments['course'] ?? '' }
  const query = { ...queryOf(filters, given.flags), limit: maxPageSize }
  const input = { params, query, signal: io.signal }
  if (settings.dryRun.value) return showRequest(context, caller.request(operation, input))
  const pages = caller.pages(operation, { ...input, query: { ...query, include_total: true } })
  const first = (await pages.next()).value as Page<Operation>
  // Not validated: the operation is this API's.
  const { items = [], hasMoreItems, total, totalIsExact } = first.around as unknown as GradebookPage
  const layout = system
    ? layoutFor(
        system,
        items,
        (await caller.call(calls.courses.get, { params, signal: io.signal })).data.title,
      )
    : ownLayout(items, privacy !== null)
  async function* learners() {
    yield first.data
    for await (const { data } of pages) yield data
  }
  await writeExport(
    context,
    asked,
    async () => {
      const rows = (privacy?.rows(learners()) ?? learners()) as Batches<GradebookRow>
      const source = gradebookSource(context, rows, items, layout, asked)
      const cut = hasMoreItems
        ? [
            `The course has more than ${formatCount(maxGradebookItems)} items: those with the first ids are included`,
          ]
        : []
      return { ...source, notes: () => [...cut, ...(privacy?.notes() ?? []), ...source.notes()] }
    },
    async () => (totalIsExact === false ? null : (total ?? null)),
  )
}

/** Null unless asked for. Throws a UsageError for the layout of a system. */
async function privacyOf(
  context: Context,
  given: Given,
  system: GradebookSystem | undefined,
): Promise<PrivacyStep | null> {
  const how = await pseudonymisingOf(context, given)
  if (how === null) return null
  if (system !== undefined) {
    throw new UsageError('--for and --pseudonymise cannot be used together', {
      why: [`The layout of ${system} has names and addresses, by which it finds learners`],
    })
  }
  const { listPrivacy } = await import('./privacy-step.ts')
  return listPrivacy(how, calls.grades.report.id, null, 'grades')
}

/** Reads the flags of the form; on a terminal the default is a table. Throws a UsageError for a form that the layout of a system cannot have. */
function optionsOf({ io, settings }: Context, given: Given, system: GradebookSystem | undefined) {
  const asked = exportOptionsOf(settings, given, 'grades')
  if (system !== undefined) {
    const isCsv = asked.format === 'csv' || asked.format === 'sheet'
    if (!isCsv) throw new UsageError(`--for ${system} is only supported for CSV, not for ${asked.format}`)
    if (asked.columns) throw new UsageError('--for and --columns cannot be used together')
    return asked
  }
  const isChosen =
    settings.output.origin.source !== 'default' || given.flags['format'] !== undefined || asked.columns
  const isShown = !isChosen && asked.file === undefined && asked.format === 'csv' && io.stdout.isTTY
  return isShown ? { ...asked, format: 'table' as const } : asked
}

function gradebookSource(
  context: Context,
  pages: Batches<GradebookRow>,
  items: readonly GradebookItem[],
  layout: GradebookLayout,
  form: RowForm,
): Source {
  const chosen = form.columns === null ? null : chosenColumns(form.columns, layout)
  const columns = chosen ?? layout.columns
  const hasCells = !['json', 'jsonl', 'yaml'].includes(form.format)
  const load = () =>
    listEncoder(context, form, {
      csv: columns,
      table: chosen ?? layout.table,
      // Objects have the names of columns, which are no paths.
      chosen: hasCells ? chosen : null,
      typed: () => typeGrades(columns),
    })
  const shapeOf = (row: Readonly<Record<string, unknown>>) =>
    hasCells ? row : Object.fromEntries(columns.map(({ label, path }) => [label, row[path]]))
  const known = new Set(items.map(({ itemId }) => itemId))
  let drafts = 0
  let late = 0

  async function* cells() {
    for await (const page of pages) {
      const grades = page.flatMap((row) => row.grades)
      drafts += grades.filter(({ published }) => !published).length
      late += grades.filter(({ itemId }) => !known.has(itemId)).length
      yield page.map((row) => shapeOf(layout.rowOf(row)))
    }
  }

  const notes = () => [
    ...(items.length === 0 ? ['The course has no grades yet'] : []),
    ...(drafts > 0 ? [`${pluralise(drafts, 'grade')} included that learners do not see yet`] : []),
    ...(late > 0 ? [`${pluralise(late, 'grade')} left out: their items are not in the report`] : []),
  ]
  return encodedSource(cells(), load, notes, layout.head.map(shapeOf))
}

async function typeGrades(columns: readonly Column[]): Promise<EncodedColumn[]> {
  const item = {
    type: 'percent',
    unit: 'percent',
    meaning: 'Grade of the item',
    nullMeans: 'without a grade',
  } as const
  const typed = await typeColumns(columns, calls.analytics.learners.id)
  return typed.map((column) => (column.type === undefined ? { ...column, ...item } : column))
}

/** Throws a UsageError on an unknown name. */
function chosenColumns(names: readonly string[], { columns }: GradebookLayout): Column[] {
  const labels = columns.map(({ label }) => label)
  return names.map((name) => {
    const exact = labels.includes(name) ? name : resolvePath(name, labels)
    return { label: name, path: columns.find(({ label }) => label === exact)?.path ?? '' }
  })
}

export type GradebookSystem = 'canvas' | 'moodle' | 'openedx'

type Cell = string | number | boolean | null

interface GradebookLayout {
  /** Paths are those of a row of `rowOf`. */
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

/** Percentages, and items as `name (id)`; without names for pseudonyms. */
function ownLayout(items: readonly GradebookItem[], isPseudonymised: boolean): GradebookLayout {
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

function layoutFor(
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

/** Open edX: all items have this type. */
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

/** Grades with another maximum are converted. */
function pointsIn({ scoreMaximum }: GradebookItem, grade: GradebookGrade | undefined): number | null {
  if (!grade) return null
  return grade.scoreMaximum === scoreMaximum ? grade.scoreGiven : (grade.percent * scoreMaximum) / 100
}

function sortableName({ lastName, firstName, email }: GradebookRow): string {
  const name = [lastName, firstName].filter((part) => part).join(', ')
  return name === '' ? email : name
}

/** Items with the same name get their ids. */
function plainNames(items: readonly GradebookItem[]): string[] {
  const plain = (item: GradebookItem) => (item.label === '' ? item.itemId : item.label)
  const shared = new Set(
    [...Map.groupBy(items, plain)].flatMap(([name, own]) => (own.length > 1 ? [name] : [])),
  )
  return uniqueNames(items.map((item) => (shared.has(plain(item)) ? withId(item) : plain(item))))
}

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
