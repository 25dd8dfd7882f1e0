import type { Child } from 'hono/jsx'
import type { LearnerRow } from '../../contract/analytics.ts'
import { Completion, Hatching } from './completion-chart.tsx'
import { type Column, Table } from './table.tsx'
import { Day, percent, statusWords } from './value-text.tsx'

const standing: readonly Column[] = [
  { name: 'Status' },
  { name: 'Completion', look: 'drawn' },
  { name: 'Last accessed' },
  { name: 'Grade', look: 'figures' },
]

/** Learners of one course, each with how far they are. */
export function LearnerTable({ rows }: { rows: readonly LearnerRow[] }) {
  const columns = [{ name: 'Learner' }, ...standing]
  return <StandingTable caption="Learners, by e-mail address" {...{ columns, rows }} name={nameOf} />
}

/** One's own courses, each with how far one is; `link` makes of a row the way to its course. */
export function OwnTable({
  rows,
  link = ({ courseTitle }) => courseTitle,
}: {
  rows: readonly LearnerRow[]
  link?: (row: LearnerRow) => Child
}) {
  const columns = [{ name: 'Course' }, ...standing]
  return <StandingTable caption="My courses, and how far I am" {...{ columns, rows }} name={link} />
}

function StandingTable({
  caption,
  columns,
  rows,
  name,
}: {
  caption: string
  columns: readonly Column[]
  rows: readonly LearnerRow[]
  name: (row: LearnerRow) => Child
}) {
  return (
    <>
      <Hatching />
      <Table
        caption={caption}
        columns={columns}
        rows={rows.map((row) => [
          name(row),
          statusOf(row),
          <Completion percentage={row.completionPercentage} status={row.progressStatus} />,
          <Day time={row.lastAccessed} />,
          gradeOf(row),
        ])}
      />
    </>
  )
}

function nameOf({ firstName, lastName, email }: LearnerRow): Child {
  const name = [firstName, lastName].filter(Boolean).join(' ')
  if (name === '') return email
  return (
    <>
      {name}
      <small>{email}</small>
    </>
  )
}

function statusOf({ progressStatus, enrollmentStatus }: LearnerRow): Child {
  const odd = enrollmentStatus === 'inactive' || enrollmentStatus === 'deleted'
  return (
    <>
      <span class="word">{statusWords[progressStatus]}</span>
      {odd ? <small>enrolment {enrollmentStatus}</small> : null}
    </>
  )
}

function gradeOf({ gradePercent, passed }: LearnerRow): Child {
  return (
    <>
      {percent(gradePercent)}
      {passed === null ? null : <small>{passed ? 'passed' : 'not passed'}</small>}
    </>
  )
}
