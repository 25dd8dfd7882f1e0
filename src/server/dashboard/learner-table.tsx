import type { Child } from 'hono/jsx'
import { lineOf } from '../../codec/display-text.ts'
import type { Course } from '../../contract/courses.ts'
import type { LearnerRow } from '../../contract/learner-row.ts'
import { type Column, Table } from '../../report/elements.tsx'
import type { SignedInRequest } from './call-api.ts'
import { Completion } from './completion-chart.tsx'
import { FilterForm } from './filter-form.tsx'
import { groupField, groupsFor } from './group-filter.tsx'
import { type LearnerQuery, searchOf, withoutPage } from './learner-query.ts'
import { Day, formatPercent, recordUrl, statusWords } from './values.tsx'

const standing: readonly (Column & { readonly sort: string })[] = [
  { name: 'Status', sort: 'status' },
  { name: 'Completion', look: 'drawn', sort: 'completion' },
  { name: 'Last accessed', sort: 'last_accessed' },
  { name: 'Grade', look: 'figures', sort: 'grade' },
]

export function LearnerTable({
  signedIn,
  here,
  query,
  isGraded,
  rows,
}: {
  signedIn: SignedInRequest
  here: string
  query: LearnerQuery
  isGraded: boolean
  rows: readonly LearnerRow[]
}) {
  const columns = [{ name: 'Learner', sort: 'name' }, ...standing].map(({ sort, ...column }) => ({
    ...column,
    sorting: sortingOf(here, query, sort),
  }))
  return (
    <StandingTable
      caption="Learners of this course"
      {...{ columns, rows, isGraded }}
      name={(row) => <LearnerName signedIn={signedIn} row={row} />}
    />
  )
}

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
  const isGraded = rows.some(({ gradePercent }) => gradePercent !== null)
  const titles = Map.groupBy(rows, ({ courseTitle }) => courseTitle)
  const nameOfCourse = (row: LearnerRow) => {
    const hasUniqueTitle = titles.get(row.courseTitle)?.length === 1
    const id = row.courseExternalId ?? (hasUniqueTitle ? null : row.courseId)
    return (
      <>
        {link(row)}
        {id === null ? null : <small>{lineOf(id, 64)}</small>}
      </>
    )
  }
  return <StandingTable {...{ caption, columns, rows, isGraded }} name={nameOfCourse} />
}

/** With the e-mail address, linked to the learner's page, or the one below it at `page`. */
export function LearnerName({
  signedIn,
  row,
  page = '',
}: {
  signedIn: SignedInRequest
  row: LearnerRow
  page?: string
}) {
  return (
    <>
      <a href={recordUrl(signedIn, 'learners', row.learnerId) + page}>{nameOf(row)}</a>
      {nameOf(row) === row.email ? null : <small>{row.email}</small>}
    </>
  )
}

function nameOf({ firstName, lastName, email }: LearnerRow): string {
  return [firstName, lastName].filter(Boolean).join(' ').trim() || email
}

function StandingTable({
  caption,
  columns,
  rows,
  isGraded,
  name,
}: {
  caption: string
  columns: readonly Column[]
  rows: readonly LearnerRow[]
  isGraded: boolean
  name: (row: LearnerRow) => Child
}) {
  return (
    <Table
      caption={caption}
      columns={isGraded ? columns : columns.slice(0, -1)}
      rows={rows.map((row) => [
        name(row),
        statusOf(row),
        <Completion percentage={row.completionPercentage} status={row.progressStatus} />,
        <Day time={row.lastAccessed} />,
        ...(isGraded ? [gradeOf(row)] : []),
      ])}
    />
  )
}

/** Descending if the table is sorted by the column already. */
export function sortingOf(here: string, query: LearnerQuery, sort: string): NonNullable<Column['sorting']> {
  const now = query.sort === sort ? 'ascending' : query.sort === `-${sort}` ? 'descending' : undefined
  const next = (now === 'ascending' ? `-${sort}` : sort) as LearnerQuery['sort']
  return { now, href: `${here}${searchOf({ ...withoutPage(query), sort: next })}#learners` }
}

function statusOf({ progressStatus, enrollmentStatus, gradePercent }: LearnerRow): Child {
  // A graded learner has started, although no progress is recorded.
  const isGradedOnly = progressStatus === 'not_started' && gradePercent !== null
  const odd = enrollmentStatus === 'inactive' || enrollmentStatus === 'deleted'
  return (
    <>
      <span class="word">{isGradedOnly ? 'No progress recorded' : statusWords[progressStatus]}</span>
      {odd ? <small>Enrolment {enrollmentStatus}</small> : null}
    </>
  )
}

export function gradeOf({ gradePercent, passed }: LearnerRow): Child {
  return (
    <>
      {formatPercent(gradePercent)}
      {passed === null ? null : <small>{passed ? 'Passed' : 'Not passed'}</small>}
    </>
  )
}

/** Keeps filter and order. */
export async function learnerSearch(signedIn: SignedInRequest, course: Course, query: LearnerQuery) {
  const groups = await groupsFor(signedIn, course, query)
  return (
    <FilterForm
      signedIn={signedIn}
      label="Search learners"
      fields={[
        { name: 'q', label: 'Name, username, e-mail address or external ID', type: 'search' },
        ...(groups.length > 0 ? [groupField(groups)] : []),
      ]}
      kept={['status', 'attention', 'sort']}
      anchor="learners"
      isLine
      button="Search"
    />
  )
}
