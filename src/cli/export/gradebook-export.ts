import type { Page } from '../../client/call.ts'
import { formatCount } from '../../codec/display-text.ts'
import { calls } from '../../contract/calls.ts'
import { maxGradebookItems, maxPageSize } from '../../contract/constants.ts'
import type { GradebookItem, GradebookPage, GradebookRow } from '../../contract/grades.ts'
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
import { type GradebookLayout, type GradebookSystem, layoutFor, ownLayout } from './gradebook-layouts.ts'
import type { PrivacyStep } from './privacy-step.ts'
import { listEncoder, type RowForm } from './row-encoder.ts'

/**
 * Exports the grades of a course, one row per learner, to the target of the flags.
 *
 * @param system the system whose layout is written; undefined for own columns
 */
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

/** Returns the columns with their types: those of learners in the data dictionary, and percentages for items. */
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
