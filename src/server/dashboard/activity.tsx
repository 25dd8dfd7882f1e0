import type { Child } from 'hono/jsx'
import { lineOf } from '../../codec/display-text.ts'
import { analytics } from '../../contract/analytics.ts'
import { activityUnits } from '../../contract/constants.ts'
import { fieldsOf } from '../../contract/fields.ts'
import { type Activity, ActivityPeriod } from '../../contract/questions.ts'
import { Card, figureTiles } from '../../report/elements.tsx'
import { formatsOf } from '../../report/format.ts'
import { ActivityPart } from '../../report/parts.tsx'
import { reportStyle } from '../../report/style.ts'
import type { ColumnType, TableColumn } from '../../tables/column.ts'
import { requireRight } from '../http/handler.ts'
import { ProblemError } from '../problem-error.ts'
import { ask, type SignedInRequest } from './call-api.ts'
import { groupFilter } from './course-learners.tsx'
import { courseFilter, termFilter } from './courses.tsx'
import type { DashboardPage } from './dashboard-page.ts'
import { faultText } from './form.tsx'
import { framePage } from './frame.tsx'
import { readOrFault } from './list.tsx'
import { capitalizedChoices, type FilterField, filterForm } from './list-parameters.tsx'
import { fileLinks, tableFilePages } from './table-file.tsx'
import { formatCount } from './values.tsx'

const path = '/dashboard/activity'

/** For staff. */
const page: DashboardPage = {
  path,
  isLong: () => true,
  async show(signedIn) {
    requireRight(signedIn.principal, analytics.activity)
    const found = await readOrFault(() => readActivity(signedIn))
    const fault = found instanceof ProblemError ? found : undefined
    return framePage(
      signedIn,
      { title: 'Activity', section: path, fault, style: reportStyle },
      <Card id="filter" title="Filter">
        {faultText(fault)}
        {filterForm(signedIn, 'Filter activity', await filterFields(signedIn))}
      </Card>,
      found instanceof ProblemError ? null : activityShown(signedIn, found),
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

const files = tableFilePages({
  path,
  operation: analytics.activity,
  columns: periodColumns,
  async read(signedIn) {
    const { data } = await readActivity(signedIn)
    return { data, nextCursor: null }
  },
})

export const activityPages = [page, ...files]

function activityShown(signedIn: SignedInRequest, activity: Activity): Child {
  const { by, timeZone, data } = activity
  const sum = (name: 'progressUpdates' | 'completions' | 'grades') =>
    formatCount(data.reduce((total, period) => total + period[name], 0))
  const [start, end] = [data[0]?.start ?? '', data.at(-1)?.end ?? '']
  return (
    <>
      {figureTiles([
        [`Most active learners in a ${by}`, formatCount(Math.max(...data.map((one) => one.activeLearners)))],
        ['Progress updates', sum('progressUpdates')],
        ['Completions', sum('completions')],
        ['Grades', sum('grades')],
      ])}
      <div class="report">
        <ActivityPart figures={{ activity, start, end }} formats={formatsOf('en', timeZone)} />
      </div>
      <p class="note">
        {`Each learner counts once in a ${by}. Days begin at midnight in ${lineOf(timeZone, 64)}.`}
      </p>
      {fileLinks(signedIn, path)}
    </>
  )
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

async function filterFields(signedIn: SignedInRequest): Promise<FilterField[]> {
  const course = await courseFilter(signedIn)
  const group = await groupFilter(signedIn, 'All learners')
  const term = await termFilter(signedIn)
  return [
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
