import type { Child } from 'hono/jsx'
import type { LearnerRow } from '../../contract/analytics.ts'
import { Completion } from './completion-chart.tsx'
import { type LearnerQuery, searchOf } from './learner-query.ts'
import { type Column, Table } from './table.tsx'
import { Day, percent, shown, statusWords } from './value-text.tsx'

const standing: readonly (Column & { readonly sort: string })[] = [
  { name: 'Status', sort: 'status' },
  { name: 'Completion', look: 'drawn', sort: 'completion' },
  { name: 'Last accessed', sort: 'last_accessed' },
  { name: 'Grade', look: 'figures', sort: 'grade' },
]

/** Learners of one course, each with their progress; the headings sort them. */
export function LearnerTable({
  base,
  here,
  query,
  graded,
  rows,
}: {
  base: string
  /** The address of the course's page. */
  here: string
  query: LearnerQuery
  /** False where nothing in the course is graded: it then has no grades to show. */
  graded: boolean
  rows: readonly LearnerRow[]
}) {
  const columns = [{ name: 'Learner', sort: 'name' }, ...standing].map(({ sort, ...column }) => ({
    ...column,
    sorting: sortingOf(here, query, sort),
  }))
  return (
    <StandingTable
      caption="Learners of this course"
      {...{ columns, rows, graded }}
      name={(row) => <LearnerName base={base} row={row} />}
    />
  )
}

/** The courses of one learner, each with their progress in it; `link` makes of a row the way to its course. */
export function CourseTable({
  caption,
  rows,
  link = ({ courseTitle }) => courseTitle,
}: {
  caption: string
  rows: readonly LearnerRow[]
  link?: (row: LearnerRow) => Child
}) {
  const columns = [{ name: 'Course' }, ...standing.map(({ sort: _, ...column }) => column)]
  const graded = rows.some(({ gradePercent }) => gradePercent !== null)
  const titles = Map.groupBy(rows, ({ courseTitle }) => courseTitle)
  const nameOfCourse = (row: LearnerRow) => {
    const isAlone = titles.get(row.courseTitle)?.length === 1
    const told = row.courseExternalId ?? (isAlone ? null : row.courseId)
    return (
      <>
        {link(row)}
        {told === null ? null : <small>{shown(told, 64)}</small>}
      </>
    )
  }
  return <StandingTable {...{ caption, columns, rows, graded }} name={nameOfCourse} />
}

/** A learner's name and e-mail address, with the way to the learner, or to another page about them. */
export function LearnerName({ base, row, page = '' }: { base: string; row: LearnerRow; page?: string }) {
  return (
    <>
      <a href={`${base}/dashboard/learners/${encodeURIComponent(row.learnerId)}${page}`}>{nameOf(row)}</a>
      {nameOf(row) === row.email ? null : <small>{row.email}</small>}
    </>
  )
}

/** A learner's name, or the e-mail address where there is none. */
function nameOf({ firstName, lastName, email }: LearnerRow): string {
  return [firstName, lastName].filter(Boolean).join(' ').trim() || email
}

function StandingTable({
  caption,
  columns,
  rows,
  graded,
  name,
}: {
  caption: string
  columns: readonly Column[]
  rows: readonly LearnerRow[]
  graded: boolean
  name: (row: LearnerRow) => Child
}) {
  return (
    <Table
      caption={caption}
      columns={graded ? columns : columns.slice(0, -1)}
      rows={rows.map((row) => [
        name(row),
        statusOf(row),
        <Completion percentage={row.completionPercentage} status={row.progressStatus} />,
        <Day time={row.lastAccessed} />,
        ...(graded ? [gradeOf(row)] : []),
      ])}
    />
  )
}

/** What a heading does: it sorts by its column, and from the end where that is done already. */
export function sortingOf(here: string, query: LearnerQuery, sort: string): NonNullable<Column['sorting']> {
  const now = query.sort === sort ? 'ascending' : query.sort === `-${sort}` ? 'descending' : undefined
  // The table's own names, with the sign that turns the order around.
  const next = (now === 'ascending' ? `-${sort}` : sort) as LearnerQuery['sort']
  return { now, href: `${here}${searchOf({ ...query, sort: next, page: 1 })}#learners` }
}

function statusOf({ progressStatus, enrollmentStatus, gradePercent }: LearnerRow): Child {
  // Graded learners have started, only not where progress is recorded.
  const isGradedOnly = progressStatus === 'not_started' && gradePercent !== null
  const odd = enrollmentStatus === 'inactive' || enrollmentStatus === 'deleted'
  return (
    <>
      <span class="word">{isGradedOnly ? 'No progress recorded' : statusWords[progressStatus]}</span>
      {odd ? <small>Enrolment {enrollmentStatus}</small> : null}
    </>
  )
}

/** A learner's grade of a course, and whether it is passed. */
export function gradeOf({ gradePercent, passed }: LearnerRow): Child {
  return (
    <>
      {percent(gradePercent)}
      {passed === null ? null : <small>{passed ? 'Passed' : 'Not passed'}</small>}
    </>
  )
}
