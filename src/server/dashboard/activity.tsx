import { lineOf } from '../../codec/display-text.ts'
import { analytics } from '../../contract/analytics.ts'
import { type ActivityUnit, activityUnits } from '../../contract/constants.ts'
import { fieldsOf } from '../../contract/fields.ts'
import { type Activity, ActivityPeriod } from '../../contract/questions.ts'
import { ColumnChart } from '../../report/drawings.tsx'
import { Figures, Table } from '../../report/elements.tsx'
import type { ColumnType, TableColumn } from '../../tables/column.ts'
import { requireRight } from '../http/handler.ts'
import { ProblemError } from '../problem-error.ts'
import { ask, type SignedInRequest } from './call-api.ts'
import { courseFilter, termFilter } from './courses.tsx'
import type { DashboardPage } from './dashboard-page.ts'
import { type FilterField, FilterForm } from './filter-form.tsx'
import { FaultText } from './form.tsx'
import { framePage } from './frame.tsx'
import { groupFilter } from './group-filter.tsx'
import { capitalized, capitalizedChoices } from './list.tsx'
import { FileLinks, type TableFile, tableFilePages } from './table-file.tsx'
import { formatCount } from './values.tsx'

const path = '/dashboard/activity'

const measures = {
  activeLearners: 'Active learners',
  progressUpdates: 'Progress updates',
  completions: 'Completions',
  grades: 'Grades',
} as const
type Measure = keyof typeof measures

/** For staff. */
const page: DashboardPage = {
  path,
  isLong: () => true,
  async show(signedIn) {
    requireRight(signedIn.principal, analytics.activity)
    const { activity, fault } = await activityOrFault(signedIn)
    const measure = measureOf(signedIn.query)
    return framePage(
      signedIn,
      { title: 'Activity', section: path, fault },
      <>
        <h1>Activity</h1>
        <section class="card periods" aria-labelledby="activity">
          <h2 id="activity">{`${measures[measure]} by ${activity?.by ?? 'period'}`}</h2>
          <FaultText fault={fault} />
          <FilterForm
            signedIn={signedIn}
            label="Filter activity"
            fields={await filterFields(signedIn)}
            anchor="activity"
          />
          {activity ? <Shown signedIn={signedIn} activity={activity} measure={measure} /> : null}
        </section>
      </>,
    )
  },
}

const typeOf: Readonly<Record<string, ColumnType>> = {
  period: 'string',
  start: 'timestamp',
  end: 'timestamp',
}

const periodColumns: readonly TableColumn[] = Object.entries(fieldsOf(ActivityPeriod) ?? {}).map(
  ([name, { says }]) => ({
    name,
    path: name,
    type: typeOf[name] ?? 'integer',
    unit: null,
    meaning: says,
    nullMeans: null,
    privacy: 'none',
  }),
)

const file: TableFile = {
  path,
  operation: analytics.activity,
  columns: periodColumns,
  async read(signedIn) {
    const { data } = await readActivity(signedIn)
    return { data, nextCursor: null }
  },
}

export const activityPages = [page, ...tableFilePages(file)]

function Shown({
  signedIn,
  activity: { by, timeZone, data },
  measure,
}: {
  signedIn: SignedInRequest
  activity: Activity
  measure: Measure
}) {
  const nameOf = (period: ActivityPeriod) => periodName(period, by)
  const sum = (name: Measure) => data.reduce((total, period) => total + period[name], 0)
  if (data.every((period) => Object.keys(measures).every((name) => period[name as Measure] === 0))) {
    return <p>No activity in this period.</p>
  }
  return (
    <>
      <ColumnChart
        id="activity"
        title={`${measures[measure]} by ${by}`}
        columns={data.map((period) => ({
          count: period[measure],
          value: formatCount(period[measure]),
          name: nameOf(period),
          label: shortName(period, by),
        }))}
        look="done"
      />
      <Figures
        figures={[
          [
            `Most active learners in a ${by}`,
            formatCount(Math.max(...data.map((one) => one.activeLearners))),
          ],
          ...(['progressUpdates', 'completions', 'grades'] as const).map(
            (name) => [measures[name], formatCount(sum(name))] as const,
          ),
        ]}
      />
      <Table
        caption={`What learners did by ${by}`}
        columns={[
          { name: capitalized(by) },
          ...Object.values(measures).map((name) => ({ name, look: 'figures' as const })),
        ]}
        rows={data.map((period) => [
          nameOf(period),
          ...Object.keys(measures).map((name) => formatCount(period[name as Measure])),
        ])}
      />
      <p class="note">
        {`Each learner counts once in a ${by}. Days begin at midnight in ${lineOf(timeZone, 64)}.`}
      </p>
      <FileLinks signedIn={signedIn} path={path} />
    </>
  )
}

const day = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  timeZone: 'UTC',
})
const month = new Intl.DateTimeFormat('en-GB', { month: 'short', year: 'numeric', timeZone: 'UTC' })

const dayOfMonth = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })

/** Below its column: `29 Mar`, `W13`, `Mar 2026`. */
function shortName({ period }: ActivityPeriod, by: ActivityUnit): string {
  if (by === 'week') return period.slice(period.indexOf('W'))
  return (by === 'day' ? dayOfMonth : month).format(new Date(period))
}

/** In words: `29 Mar 2026`, `Week 13, 2026`, `Mar 2026`. */
function periodName({ period }: ActivityPeriod, by: ActivityUnit): string {
  if (by === 'week') {
    const [year, week] = period.split('-W')
    return `Week ${Number(week)}, ${year}`
  }
  return (by === 'day' ? day : month).format(new Date(period))
}

/** No activity, but the fault, if the filter of the URL is wrong. */
async function activityOrFault(
  signedIn: SignedInRequest,
): Promise<{ activity?: Activity; fault?: ProblemError }> {
  try {
    return { activity: await readActivity(signedIn) }
  } catch (error) {
    if (error instanceof ProblemError && [400, 404].includes(error.status)) return { fault: error }
    throw error
  }
}

function readActivity(signedIn: SignedInRequest): Promise<Activity> {
  const given = (name: string) => signedIn.query.get(name)?.trim() || undefined
  return ask(signedIn, analytics.activity, {
    query: {
      by: given('by'),
      start_date: given('from'),
      end_date: given('to'),
      time_zone: given('zone'),
      course_id: given('course'),
      learner_id: given('learner'),
      group_id: given('group'),
      term_id: given('term'),
    },
  })
}

function measureOf(query: URLSearchParams): Measure {
  const name = query.get('show') ?? ''
  return Object.hasOwn(measures, name) ? (name as Measure) : 'activeLearners'
}

async function filterFields(signedIn: SignedInRequest): Promise<FilterField[]> {
  const course = await courseFilter(signedIn)
  const group = await groupFilter(signedIn, 'All learners')
  const term = await termFilter(signedIn)
  return [
    {
      name: 'show',
      label: 'Chart',
      choices: Object.entries(measures),
      standard: 'activeLearners',
    },
    {
      name: 'by',
      label: 'By',
      choices: capitalizedChoices(activityUnits),
      standard: 'week',
    },
    { name: 'from', label: 'From day', type: 'date' },
    { name: 'to', label: 'To day', type: 'date' },
    course,
    ...(group ? [group] : []),
    ...(term ? [term] : []),
    { name: 'zone', label: 'Time zone', placeholder: 'UTC' },
  ]
}
