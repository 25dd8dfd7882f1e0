import type { Child } from 'hono/jsx'
import { lineOf } from '../../codec/display-text.ts'
import type { Course } from '../../contract/courses.ts'
import type { LearnerRow } from '../../contract/learner-row.ts'
import type { SignedInRequest } from './call-api.ts'
import { Completion } from './completion-chart.tsx'
import { FilterForm } from './filter-form.tsx'
import { groupField, groupsFor } from './group-filter.tsx'
import type { LearnerQuery } from './learner-query.ts'
import type { List, ListColumn } from './list.tsx'
import { Day, formatPercent, recordUrl, statusWords } from './values.tsx'

/** Of a course, around these columns; the names link to the learners' pages, or those below them at `page`. */
export function learnerList(
  title: string,
  caption: string,
  columns: readonly ListColumn<LearnerRow>[],
  page = '',
): List<LearnerRow> {
  const name: ListColumn<LearnerRow> = {
    name: 'Learner',
    sort: 'name',
    cell: (row, signedIn) => (
      <>
        <a href={recordUrl(signedIn, 'learners', row.learnerId) + page}>{nameOf(row)}</a>
        {nameOf(row) === row.email ? null : <small>{row.email}</small>}
      </>
    ),
  }
  return { id: 'learners', title, caption, sort: 'name', columns: [name, ...columns] }
}

function nameOf({ firstName, lastName, email }: LearnerRow): string {
  return [firstName, lastName].filter(Boolean).join(' ').trim() || email
}

export const gradeColumn: ListColumn<LearnerRow> = {
  name: 'Grade',
  look: 'figures',
  sort: 'grade',
  cell: ({ gradePercent, passed }) => (
    <>
      {formatPercent(gradePercent)}
      {passed === null ? null : <small>{passed ? 'Passed' : 'Not passed'}</small>}
    </>
  ),
}

export function standingColumns(isGraded: boolean): readonly ListColumn<LearnerRow>[] {
  return [
    { name: 'Status', sort: 'status', cell: statusOf },
    {
      name: 'Completion',
      look: 'drawn',
      sort: 'completion',
      cell: ({ completionPercentage, progressStatus }) => (
        <Completion percentage={completionPercentage} status={progressStatus} />
      ),
    },
    {
      name: 'Last accessed',
      sort: 'last_accessed',
      cell: ({ lastAccessed }) => <Day time={lastAccessed} />,
    },
    ...(isGraded ? [gradeColumn] : []),
  ]
}

/** Of one learner, who have them in one order. */
export function courseColumns(
  rows: readonly LearnerRow[],
  link: (row: LearnerRow) => Child = ({ courseTitle }) => courseTitle,
): readonly ListColumn<LearnerRow>[] {
  const titles = Map.groupBy(rows, ({ courseTitle }) => courseTitle)
  const name: ListColumn<LearnerRow> = {
    name: 'Course',
    cell: (row) => {
      const hasUniqueTitle = titles.get(row.courseTitle)?.length === 1
      const id = row.courseExternalId ?? (hasUniqueTitle ? null : row.courseId)
      return (
        <>
          {link(row)}
          {id === null ? null : <small>{lineOf(id, 64)}</small>}
        </>
      )
    },
  }
  const isGraded = rows.some(({ gradePercent }) => gradePercent !== null)
  return [name, ...standingColumns(isGraded).map(({ sort: _, ...column }) => column)]
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

export async function learnerSearch(signedIn: SignedInRequest, course: Course, query: LearnerQuery) {
  const groups = await groupsFor(signedIn, course, query)
  return (
    <FilterForm
      signedIn={signedIn}
      label="Filter learners"
      fields={[
        { name: 'q', label: 'Name, username, e-mail address or external ID', type: 'search' },
        ...(groups.length > 0 ? [groupField(groups)] : []),
      ]}
      anchor="learners"
    />
  )
}
