import { joinReferences } from '../../codec/reference-list.ts'
import type { Settings } from '../../config/settings.ts'
import type { analytics } from '../../contract/analytics.ts'
import type { QueryInput } from '../../contract/operation.ts'
import { checkChoices } from '../command/choices.ts'
import type { Command, Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { bound, type FieldFlag, type Flag } from '../command/flag.ts'
import { withTimeZone } from '../command/time-flag.ts'
import { assertSeveralTaken } from '../export/several-references.ts'
import { showRequest } from '../operation/dry-run.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'

type Query = QueryInput<typeof analytics.learners>

const contract = async () => (await import('../../contract/analytics.ts')).analytics.learners

const formats = ['csv', 'json', 'ndjson'] as const

const filters = {
  start_date: {
    kind: 'time',
    time: 'start',
    summary: 'Last accessed on or after this day or time, such as 2026-01-31 (inclusive)',
  },
  end_date: {
    kind: 'time',
    time: 'end',
    summary: 'Last accessed on or before this day (inclusive), or before this time (exclusive)',
  },
  course_id: {
    name: 'course',
    kind: 'texts',
    placeholder: 'course',
    summary: 'Only this course: id or ext:<your own id> (repeatable)',
  },
  learner_id: {
    name: 'learner',
    kind: 'texts',
    placeholder: 'learner',
    summary: 'Only this learner: id, ext:<your own id> or email:<address> (repeatable)',
  },
  status: { kind: 'words', summary: 'Only these', choices: ['not_started', 'in_progress', 'completed'] },
  difficulty: {
    kind: 'words',
    summary: 'Only courses this hard',
    choices: ['beginner', 'intermediate', 'advanced', 'expert'],
  },
  include_not_started: { kind: 'switch', summary: 'With dates: also who is enrolled and never started' },
  include_deleted: { kind: 'switch', summary: 'Deleted users, too' },
} satisfies Readonly<Partial<Record<keyof Query, FieldFlag>>>

/** The parameters that several references may be given for, and their flags. */
const several = { course_id: filters.course_id.name, learner_id: filters.learner_id.name }

const filterFlags = bound(filters)
const ownFlags = filterFlags.map(({ flag }) => flag)
const formatFlag = {
  name: 'format',
  kind: 'text',
  placeholder: 'format',
  summary: 'How to write it; csv unless given',
  choices: formats,
} as const
const lastFlag = {
  name: 'last',
  kind: 'time',
  time: 'ago',
  placeholder: 'duration',
  summary: 'Last accessed within this long: 24h, 30d, 2w, 3m (months) or 1y',
} as const

const timedFlags = withTimeZone([...ownFlags, lastFlag])

/** `learnctl analytics …` */
export const commands: readonly Command[] = [
  {
    name: 'export',
    summary: 'Export learners, one row for each learner and course, all of them',
    description:
      "CSV is what the server sends, byte for byte: RFC 4180, a header always, UTF-8. A text that a spreadsheet would\ntake for a formula has a ' in front, unless --raw. Without dates, who never started is there, too.",
    flags: [
      formatFlag,
      ...timedFlags,
      { name: 'raw', kind: 'switch', summary: 'CSV without the guard against formulas' },
      { name: 'bom', kind: 'switch', summary: 'CSV with a byte order mark, for Excel' },
      { name: 'file', kind: 'text', placeholder: 'path', summary: 'Write to this file, whole or not at all' },
      { name: 'force', kind: 'switch', summary: 'Replace the file if it exists' },
    ],
    examples: [
      'analytics export --last 30d --file recent.csv',
      'analytics export --start-date 2014-10-01 --end-date 2014-12-31 --course ext:AAA-2014J',
      'analytics export --format ndjson | jq .email',
    ],
    run: runExport,
  },
  {
    name: 'summary',
    summary: 'Show how far learners are: the distribution of completion, and the courses side by side',
    flags: timedFlags,
    examples: ['analytics summary', 'analytics summary --course ext:AAA-2014J -o json'],
    run: runSummary,
  },
]

async function runExport(context: Context, given: Given): Promise<void> {
  const { session, settings } = context
  refuseMisplaced(settings)
  const { flags } = given
  checkChoices([formatFlag], flags)
  const format = formats.find((one) => one === flags['format']) ?? 'csv'
  const csvOnly = ['raw', 'bom'].find((flag) => flags[flag] === true)
  if (csvOnly && format !== 'csv') throw new UsageError(`--${csvOnly} is for CSV, not for ${format}`)
  const query = {
    ...queryOf(context, given),
    ...(flags['raw'] === true && { raw: 'true' as const }),
    ...(flags['bom'] === true && { bom: 'true' as const }),
  }
  const [caller, operation] = await Promise.all([session.caller(), contract()])
  if (settings.dryRun.value) {
    const sent = { ...query, format: format === 'csv' ? format : ('ndjson' as const) }
    return showRequest(context, caller.request(operation, { query: sent }))
  }
  await assertSeveralTaken(context, caller, operation, query, several)
  const { exportLearners } = await import('../export/learner-export.ts')
  const file = flags['file'] === undefined ? undefined : String(flags['file'])
  await exportLearners(context, caller, { operation, query, format, file, force: flags['force'] === true })
}

async function runSummary(context: Context, given: Given): Promise<void> {
  const { io, session, settings, output } = context
  const [caller, operation] = await Promise.all([session.caller(), contract()])
  const query = { ...queryOf(context, given), limit: 1 }
  if (settings.dryRun.value) return showRequest(context, caller.request(operation, { query }))
  await assertSeveralTaken(context, caller, operation, query, several)
  const { data } = await caller.call(operation, { query, signal: io.signal })
  const { summary, period } = data
  if (!summary) {
    throw new CommandError(
      'not_offered',
      'failure',
      `${hostIn(context)} does not offer a summary of its learners`,
      {
        why: [`the answer to ${operation.method} ${operation.path} holds none`],
        hint: 'export the rows instead: learnctl analytics export',
      },
    )
  }
  const format = settings.output.value
  const [{ drawSummary, figuresOf }, { colourLevel, painter }] = await Promise.all([
    import('../output/summary-view.ts'),
    import('../terminal/colour.ts'),
  ])
  const rowsWanted = settings.quiet.value || ['flag', 'environment'].includes(settings.columns.origin.source)
  if (format === 'table' && io.stdout.isTTY && !rowsWanted) {
    const chalk = await painter(colourLevel(io.stdout, io.env, settings.color.value))
    return output.text(drawSummary(summary, io.stdout.columns ?? 80, chalk))
  }
  const fields = ['section', 'name', 'measure', 'value']
  const shape = { table: fields, paths: fields }
  if (format === 'table' || format === 'csv') {
    output.check(shape)
    return output.list([figuresOf(summary)], shape)
  }
  await output.document({ period, summary })
}

/** Global flags that an export cannot follow, and what to do instead: to ignore one would be a wrong result. */
const misplaced = [
  ['output', 'use --format csv, json or ndjson'],
  ['columns', 'its columns are always the same ones; leave some out with a program that reads CSV'],
  ['quiet', 'print ids with: learnctl users list --role learner --all -q'],
  ['limit', 'it always has all rows; filter them with --course, --learner, --status, --difficulty or --last'],
] as const

function refuseMisplaced(settings: Settings): void {
  for (const [name, hint] of misplaced) {
    const { origin } = settings[name]
    if (origin.source === 'flag') throw new UsageError(`${origin.name} is not for an export`, { hint })
  }
}

function hostIn({ session }: Context): string {
  const academy = session.target()
  return academy.kind === 'remote' ? new URL(academy.url).host : academy.database
}

function parameterOf({ kind }: Flag, value: unknown): unknown {
  if (kind === 'texts' && Array.isArray(value)) return joinReferences(value.map(String))
  return value === true ? 'true' : value
}

function queryOf({ session }: Context, { flags }: Given): Omit<Query, 'format'> {
  if (session.target().kind === 'local') checkChoices(ownFlags, flags)
  const query = Object.fromEntries(
    filterFlags.flatMap(({ place, flag }) => {
      const value = flags[flag.name]
      return value === undefined ? [] : [[place, parameterOf(flag, value)]]
    }),
  )
  const last = flags[lastFlag.name]
  if (last === undefined) return query
  if (query['start_date'] !== undefined || query['end_date'] !== undefined) {
    throw new UsageError('--last excludes --start-date and --end-date')
  }
  return { ...query, start_date: String(last) }
}
