import type { Call } from '../../contract/calls.ts'
import type { ActivityPeriod } from '../../contract/questions.ts'
import { type Command, type Given, notAList } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { bindQueryFlags, checkOwnChoices, textsIn, withTimeZone } from '../command/flag.ts'
import { activityFilters, itemFilters, riskFilters } from '../flags/analytics.ts'
import { showRequest } from '../operation/dry-run.ts'
import { call } from '../operation/operation-command.ts'
import { queryOf } from '../operation/operation-flags.ts'
import type { OperationSpec } from '../operation/operation-spec.ts'
import { pseudonymFlags, pseudonymisingOf } from '../pseudonyms/pseudonym-flags.ts'
import { withFlagNames } from './export.ts'

const contract = async () => (await import('../../contract/calls.ts')).calls.analytics

const activityFlags = bindQueryFlags(activityFilters)

export const questionCommands: readonly Command[] = [
  withPseudonyms({
    name: 'at-risk',
    summary: 'List learners who may need help, one row per learner and course',
    description:
      'Reasons: inactive (no access for 14 days and not completed), stuck (below 50% and no progress for 14 days), not_passed\n(course grade below the passing score). Only published courses are listed, and only active enrolments as inactive or\nstuck, as by the dashboard: see docs/analytics.md. With --pseudonymise all rows are printed, in the order of pseudonyms.',
    flags: pseudonymFlags,
    operation: async () => (await contract()).atRisk,
    query: riskFilters,
    columns: [
      'email',
      'reasons',
      'courseExternalId',
      'lastAccessed',
      'completionPercentage',
      'gradePercent',
      'progressedAt',
      'courseTitle',
    ],
    examples: [
      'analytics at-risk --course ext:AAA-2014J',
      'analytics at-risk --reason stuck --all -o csv > stuck.csv',
      'analytics at-risk --inactive-days 7 --columns email,reasons,lastAccessed',
      'analytics at-risk --pseudonymise --pseudonym-key study.key --coarsen-times week -o csv > help.csv',
    ],
  }),
  {
    name: 'activity',
    summary: 'Count active learners, progress, completions and grades by day, week or month',
    writes: [],
    prints: ['ActivityPeriod[]'],
    description:
      'Weeks begin on Monday (ISO 8601). Periods begin and end in the time zone of --timezone; those without activity are shown,\ntoo. A start or end within a period cuts it. Records count when they happened, not when they were recorded.',
    hasRows: true,
    refuses: { ...notAList, quiet: 'The result has no id' },
    flags: withTimeZone(activityFlags.map(({ flag }) => flag)),
    examples: [
      'analytics activity',
      'analytics activity --by month --start-date 2014-10-01 --end-date 2015-06-30 --course ext:AAA-2014J',
      'analytics activity --by day --start-date 2014-10-20 --end-date 2014-11-02 --timezone Europe/London -o csv',
    ],
    run: withFlagNames(activityFlags, runActivity),
  },
  listByCourse({
    name: 'grades',
    summary: 'Show count, mean, quartiles and pass rate of grades, one row per item',
    description:
      'Figures are percentages of the maximum score. Cleared and unpublished grades are left out. Quartiles are interpolated\nbetween the two nearest grades, as by QUARTILE.INC in Excel and by pandas.',
    operation: async () => (await contract()).grades,
    query: itemFilters,
    columns: [
      'itemTitle',
      'courseExternalId',
      'count',
      'mean',
      'median',
      'passRate',
      'lowerQuartile',
      'upperQuartile',
      'courseTitle',
    ],
    examples: [
      'analytics grades --by item --course ext:AAA-2014J',
      'analytics grades --all -o csv --columns courseExternalId,itemId,count,lowerQuartile,median,upperQuartile',
    ],
  }),
]

/** The table on a terminal has no columns of the course if `--course` names one. */
function listByCourse<const O extends Call>(spec: OperationSpec<O>): Command {
  const list = call(spec)
  const ofCourse = call({
    ...spec,
    columns: spec.columns?.filter((name) => !name.startsWith('course')) ?? [],
  })
  return {
    ...list,
    run: (context, given) => {
      const isOne = context.io.stdout.isTTY && textsIn(given.flags, 'course').length === 1
      return (isOne ? ofCourse : list).run(context, given)
    },
  }
}

function withPseudonyms<const O extends Call>(spec: OperationSpec<O>): Command {
  const list = listByCourse(spec)
  const query = bindQueryFlags(spec.query)
  return {
    ...list,
    run: async (context, given) => {
      const how = await pseudonymisingOf(context, given)
      if (how === null) return list.run(context, given)
      const { printPseudonymised } = await import('../export/list-export.ts')
      const operation = await spec.operation()
      const run = () => printPseudonymised(context, given, how, operation, query)
      return withFlagNames(query, run)(context, given)
    },
  }
}

const periodColumns = [
  'period',
  'start',
  'end',
  'activeLearners',
  'progressUpdates',
  'completions',
  'grades',
] as const satisfies readonly (keyof ActivityPeriod)[]

async function runActivity(context: Context, given: Given): Promise<void> {
  const { io, session, settings, output } = context
  checkOwnChoices(session.target(), activityFlags, given.flags)
  const [caller, { activity: operation }, { timeZoneName }] = await Promise.all([
    session.caller(),
    contract(),
    import('../command/resolve-times.ts'),
  ])
  const query = { ...queryOf(activityFlags, given.flags), time_zone: timeZoneName(io, given.flags) }
  const shape = {
    table: ['period', 'activeLearners', 'progressUpdates', 'completions', 'grades'],
    paths: periodColumns,
    operation: operation.id,
  }
  output.check(shape)
  if (settings.dryRun.value) return showRequest(context, caller.request(operation, { query }))
  const { data } = await caller.call(operation, { query, signal: io.signal })
  await output.list([data.data], shape)
}
