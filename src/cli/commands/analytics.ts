import { formatCount } from '../../codec/display-text.ts'
import { isBinaryFormat } from '../../config/setting.ts'
import { mayDiffer, platformName } from '../../config/target.ts'
import type { analytics } from '../../contract/analytics.ts'
import type { QueryInput } from '../../contract/operation.ts'
import type { Table } from '../../tables/dictionary.ts'
import { type Command, type Given, noTarget, notAList } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { bindQueryFlags, checkOwnChoices, type Flag, withTimeZone } from '../command/flag.ts'
import { exportOptionsOf, targetFlags } from '../export/export-options.ts'
import { filters, statementFilters } from '../flags/analytics.ts'
import { showRequest } from '../operation/dry-run.ts'
import { ignoreFiltersFlag, queryOf, rowHandling } from '../operation/operation-flags.ts'
import { hasChosenColumns, type Shape } from '../output/output.ts'
import { changedPseudonymFlags, pseudonymFlags, pseudonymisingOf } from '../pseudonyms/pseudonym-flags.ts'
import { sheetFlag } from '../targets/sheet-flag.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'
import { pluralise } from '../terminal/format-text.ts'
import { questionCommands } from './analytics-questions.ts'
import { exportFlags, withFlagNames } from './export.ts'

const flags = [
  {
    name: 'full',
    kind: 'switch',
    summary: 'Begin again with all rows, and remove the files of earlier runs',
  },
  ...changedPseudonymFlags,
] as const satisfies readonly Flag[]

const datasetCommand: Command = {
  name: 'dataset',
  hasRows: 'in a folder',
  summary: 'Write users, courses, enrolments, progress and grades as files for a database',
  writes: ['files'],
  prints: [],
  description:
    'The first run writes all rows of users, courses, lessons, enrollments, progress (its whole history) and grades; each later one\nadds what was added, changed, removed or erased since. -o parquet (default), csv or jsonl sets the format. schema.json has the\ntypes, keys and references, load.sql loads the files into DuckDB, load.postgresql.sql into PostgreSQL and load.bigquery.sql into\nBigQuery. A run that is interrupted adds nothing, and the next one makes up for it. docs/analytics.md has more.\n\nFiles keep what they have: after users were erased, --full writes them without these. With --pseudonymise, each run needs\nthe same key and precision of times, and a folder has no other files.',
  arguments: [{ name: 'folder', summary: 'Folder of the data set', file: 'write' }],
  flags,
  refuses: {
    columns: 'The files have all columns',
    limit: 'A data set has all rows',
    dryRun: 'It changes nothing on the platform',
  },
  examples: [
    'analytics dataset warehouse',
    'analytics dataset warehouse-csv -o csv',
    'analytics dataset study --pseudonymise --pseudonym-key study.key --coarsen-times week',
  ],
  interruption: 'continues',
  run: runDataset,
}

async function runDataset(context: Context, given: Given): Promise<void> {
  const { folder = '' } = given.arguments
  const { session, output } = context
  if (folder === '-') {
    throw new UsageError('Standard output is not supported: a data set has several files', {
      hint: 'Name a folder',
    })
  }
  const format = await formatOf(context)
  const pseudonymising = await pseudonymisingOf(context, given)
  const caller = await session.caller()
  const { writeDataset } = await import('../export/dataset-run.ts')
  const { rows, isFull, manifest, notes } = await writeDataset(context, caller, {
    name: folder,
    format,
    isFull: given.flags['full'] === true,
    platform: platformName(session.target()),
    pseudonymising,
  })
  const run = manifest.runs.at(-1)?.number
  const counts = Object.entries(rows).map(([table, count]) => `${table} ${formatCount(count)}`)
  const sum = Object.values(rows).reduce((all, count) => all + count, 0)
  await output.done(
    counts.length === 0
      ? `Nothing has changed since run ${run} of ${folder}`
      : `${isFull ? 'Wrote' : 'Added'} ${pluralise(sum, 'row')} to ${folder} in run ${run}: ${counts.join(', ')}`,
  )
  for (const note of notes) await output.note(note)
}

async function formatOf({ settings }: Context) {
  const { value, origin } = settings.output
  if (origin.source !== 'flag') return undefined
  const { datasetFormats } = await import('../export/dataset-files.ts')
  const format = datasetFormats.find((each) => each === (value as string))
  if (format) return format
  throw new UsageError(`${origin.name} ${value} is not supported: a data set has files for databases`, {
    hint: 'Use -o parquet, csv or jsonl',
  })
}

type Query = QueryInput<typeof analytics.learners>

const contract = async () => (await import('../../contract/calls.ts')).calls.analytics.learners

const filterFlags = bindQueryFlags(filters)
const statementFlags = bindQueryFlags(statementFilters)
const ownFlags = filterFlags.map(({ flag }) => flag)
const keyFileFlag = {
  name: 'file',
  kind: 'text',
  placeholder: 'path',
  file: 'write',
  summary: 'File to create',
  required: true,
} as const

const timedFlags = withTimeZone(ownFlags)

const statementTargetFlags = targetFlags.filter(({ name }) => name === 'file' || name === 'force')

const fieldColumns = ['table', 'name', 'type', 'unit', 'meaning', 'nullMeans']
const fieldsShape: Shape = {
  table: fieldColumns,
  paths: [...fieldColumns, 'privacy', 'operation'],
  identifier: 'name',
}

const fieldsCommand: Command = {
  name: 'fields',
  hasRows: true,
  summary: 'List the columns of lists and exports with their types and meanings',
  writes: [],
  prints: ['DataField[]'],
  description:
    'The data dictionary: table, name, type, unit, meaning and what null means. A table is the list of a resource (users), a\nquestion of analytics (learners, at-risk), or an operation (grades.history). --columns name,privacy shows how a column\nidentifies a person: id, name, address, text (free text), time or none.',
  arguments: [
    { name: 'table', summary: 'Tables, such as learners (default all)', rest: true, optional: true },
  ],
  refuses: { ...noTarget, ...notAList, dryRun: 'Nothing is sent' },
  examples: [
    'analytics fields learners',
    'analytics fields users enrollments --columns table,name,privacy',
    'analytics fields -o json',
  ],
  run: async ({ output }, { rest }) => {
    const { tables } = await import('../../tables/dictionary.ts')
    output.check(fieldsShape)
    const wanted = rest.length === 0 ? tables : rest.map((name) => findTable(tables, name))
    await output.list(wanted.map(fieldsOf), fieldsShape)
  },
}

export const commands: readonly Command[] = [
  {
    name: 'export',
    hasRows: true,
    summary: 'Export learner data, one row per learner and course',
    writes: [],
    prints: ['LearnerRow[]'],
    description:
      "The format is set by --output, else by the extension of --file (.csv, .json, .jsonl, .ndjson or .yaml, with .gz added to\ncompress, .parquet or .xlsx); the default is CSV. CSV is RFC 4180 in UTF-8 with a header, and has the platform's columns unless\n--columns is used. Text that a spreadsheet would run as a formula is prefixed with ', whichever platform it comes from.\n\nDates filter by when the learner last accessed the course. Without dates, learners who have not started are included.\nRemoved enrolments are left out unless --enrollment-status asks for them.\n\nColumns (docs/output.md says what they mean): learnerId, email, firstName, lastName, externalId, courseId, courseTitle, difficulty, enrollmentStatus, enrolledAt, progressStatus, completionPercentage, startedAt, lastAccessed, completedAt, gradePercent, passed, gradeUpdatedAt, courseExternalId.",
    refuses: {
      quiet: 'Print ids with: learnctl users list --role learner --all -q',
      limit:
        'An export contains all rows; filter it with --course, --learner, --status, --difficulty or --last',
    },
    flags: exportFlags(filterFlags, [...pseudonymFlags, ignoreFiltersFlag]),
    examples: [
      'analytics export --last 30d --file recent.csv',
      'analytics export --start-date 2014-10-01 --end-date 2014-12-31 --course ext:AAA-2014J',
      'analytics export --file learners.ndjson.gz --columns email,courseTitle,completionPercentage',
      'analytics export -o jsonl | jq .email',
      'analytics export --last 30d --to-sheet 1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms#Learners',
      'analytics export --course ext:AAA-2014J --pseudonymise --pseudonym-key study.key --coarsen-times week',
    ],
    run: withFlagNames(filterFlags, runExport),
  },
  {
    name: 'summary',
    hasRows: true,
    summary: 'Summarise the completion and grades of learners, in total and by course',
    writes: [],
    prints: ['SummaryOfPeriod'],
    description:
      'In a pipe and as CSV, each row holds one figure: section, name, measure, value. Dates filter by when the learner last\naccessed the course.',
    refusesFlags: {
      [sheetFlag.name]: 'The result is not a list; write its rows with: learnctl analytics export --to-sheet',
    },
    flags: timedFlags,
    examples: ['analytics summary', 'analytics summary --course ext:AAA-2014J -o json'],
    run: withFlagNames(filterFlags, runSummary),
  },
  ...questionCommands,
  datasetCommand,
  fieldsCommand,
  {
    name: 'statements',
    summary: 'Export progress, completion and grades as xAPI statements',
    writes: [],
    prints: ['Statement[]'],
    description:
      'Writes a statement per line, or one array with -o json, for a learning record store (LRS). A statement has the same id in each\nexport with the same --actor and --home-page, so that importing it again changes nothing. Learners are named by their ids;\ntheir names are never included. docs/integrations/xapi.md says what becomes which statement.',
    refuses: {
      quiet: 'Print ids with: learnctl analytics statements | jq -r .id',
      limit: 'An export contains all statements; filter it with --course, --learner or --start-date',
      columns: 'Statements are exported as a whole',
    },
    refusesFlags: {
      [sheetFlag.name]:
        'A statement is nested JSON without columns; write progress and grades with: learnctl analytics export --to-sheet',
    },
    flags: [
      ...withTimeZone(statementFlags.map(({ flag }) => flag)),
      ...pseudonymFlags,
      ...statementTargetFlags,
    ],
    examples: [
      'analytics statements --home-page https://academy.example.org --file statements.jsonl',
      'analytics statements --course ext:AAA-2014J --start-date 2014-10-01 -o json',
    ],
    run: withFlagNames(statementFlags, async (context, given) => {
      const { exportStatements } = await import('../export/list-export.ts')
      await exportStatements(context, given, statementFlags)
    }),
  },
  {
    name: 'pseudonym-key',
    summary: 'Create a key for pseudonyms',
    writes: ['files'],
    prints: [],
    description:
      'Writes 32 random bytes as text to a file that only you can read (mode 0600). Exports with the same key have the same pseudonyms.\nThe key leads back from an id to its pseudonym: keep it apart from the data, and delete it when no further export is needed.',
    refuses: {
      columns: 'The result has no columns',
      limit: 'The result is not a list',
    },
    flags: [keyFileFlag],
    examples: ['analytics pseudonym-key --file study.key'],
    run: async ({ io, output }, { flags }) => {
      const file = String(flags[keyFileFlag.name])
      const { createPseudonymKey } = await import('../pseudonyms/pseudonyms.ts')
      await createPseudonymKey(io.cwd, file)
      await output.done(`Created key ${file}; without it, the same pseudonyms cannot be made again`)
    },
  },
]

async function runExport(context: Context, given: Given): Promise<void> {
  const { session, settings } = context
  const wanted = { ...exportOptionsOf(settings, given, 'learners'), query: queryIn(context, given) }
  const pseudonymising = await pseudonymisingOf(context, given)
  const [caller, operation, { exportLearners, exportRequest }] = await Promise.all([
    session.caller(),
    contract(),
    import('../export/learner-export.ts'),
  ])
  if (wanted.columns && !pseudonymising && !mayDiffer(session.target())) {
    ;(await import('../export/row-encoder.ts')).resolveColumns(wanted.columns, [])
  }
  const whole = { ...wanted, operation, pseudonymising }
  if (settings.dryRun.value) return showRequest(context, exportRequest(caller, whole))
  return exportLearners(context, caller, { ...whole, ...(await rowHandling(context.output, given.flags)) })
}

async function runSummary(context: Context, given: Given): Promise<void> {
  const { io, session, settings, output } = context
  const [caller, operation] = await Promise.all([session.caller(), contract()])
  const query = { ...queryIn(context, given), limit: 1 }
  if (settings.dryRun.value) return showRequest(context, caller.request(operation, { query }))
  const handling = await rowHandling(output, given.flags)
  const result = await caller.call(operation, { query, signal: io.signal, ...handling })
  const { summary, period } = result.data
  if (!summary) {
    throw new CommandError(
      'not_offered',
      'failure',
      `${platformName(session.target())} does not provide a learner summary`,
      {
        why: [`The response to ${operation.method} ${operation.path} contains no summary`],
        hint: 'Use the export instead: learnctl analytics export',
      },
    )
  }
  const format = settings.output.value
  const [{ drawSummary, figureColumns, figuresOf }, { createPainterFor }] = await Promise.all([
    import('../output/summary-view.ts'),
    import('../terminal/format-text.ts'),
  ])
  const rowsWanted = settings.quiet.value || hasChosenColumns(settings)
  if (format === 'table' && io.stdout.isTTY && !rowsWanted) {
    const chalk = await createPainterFor(io.stdout, io, settings)
    return output.text(drawSummary(summary, io.stdout.columns ?? 80, chalk))
  }
  const fields = figureColumns.map(({ path }) => path)
  const shape = { table: fields, paths: fields, described: figureColumns }
  if (format === 'table' || format === 'csv' || isBinaryFormat(format)) {
    output.check(shape)
    return output.list([figuresOf(summary)], shape)
  }
  await output.document({ period, summary })
}

function queryIn({ session }: Context, { flags }: Given): Omit<Query, 'format'> {
  checkOwnChoices(session.target(), filterFlags, flags)
  return queryOf(filterFlags, flags)
}

function findTable(tables: readonly Table[], name: string): Table {
  const found = tables.find((table) => table.name === name)
  if (found) return found
  const names = tables.map((table) => table.name)
  throw new UsageError(`No table ${JSON.stringify(name)}`, {
    code: 'unknown_table',
    why: [`Tables: ${names.join(', ')}`],
    choice: { given: name, valid: names },
  })
}

function fieldsOf({ name: table, operation, columns }: Table) {
  return columns.map(({ name, type, unit, meaning, nullMeans, privacy }) => ({
    ...{ table, name, type, unit, meaning, nullMeans, privacy, operation },
  }))
}
