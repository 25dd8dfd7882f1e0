import type { Child } from 'hono/jsx'
import { type Grade, grades } from '../../contract/grades.ts'
import { gradeRoutes } from '../grades/grades.ts'
import { itemName } from './grade-items.ts'
import { type ListColumn, ListTable } from './list.tsx'
import { nextPage, pageAsked } from './paging.tsx'
import { Score } from './score.tsx'
import { ask, type SignedInRequest } from './signed-in-request.ts'
import { Day, shown } from './value-text.tsx'

/** The grades of one learner, the latest first: of one course, or of all, each then with its course. */
export async function gradeList({
  signedIn,
  learnerId,
  courseId,
  caption,
  none,
}: {
  signedIn: SignedInRequest
  learnerId: string
  courseId?: string
  caption: string
  /** What is said where there are none. */
  none: Child
}) {
  const listed = await ask(signedIn, gradeRoutes, grades.list, {
    query: { ...pageAsked(signedIn), learner_id: learnerId, course_id: courseId, sort: '-gradedAt' },
  })
  const columns = courseId === undefined ? gradeColumns : gradeColumns.filter(({ name }) => name !== 'Course')
  const isNothing = listed.data.length === 0 && nextPage(signedIn, listed.nextCursor) === null
  return isNothing ? none : <ListTable list={{ caption, columns }} {...{ signedIn, listed, none }} />
}

const gradeColumns: readonly ListColumn<Grade>[] = [
  { name: 'Item', cell: (grade, { base }) => <Item base={base} grade={grade} /> },
  {
    name: 'Course',
    look: 'broad',
    cell: ({ courseId, courseTitle }, { base }) => (
      <a href={`${base}/dashboard/courses/${encodeURIComponent(courseId)}`}>{courseTitle}</a>
    ),
  },
  { name: 'Grade', look: 'figures', cell: (grade) => <Score grade={grade} /> },
  { name: 'Source', cell: ({ source }) => shown(source, 48) },
  { name: 'Graded', cell: ({ gradedAt }) => <Day time={gradedAt} /> },
]

function Item({ base, grade }: { base: string; grade: Grade }) {
  return (
    <>
      <a href={`${base}/dashboard/grades/${encodeURIComponent(grade.id)}`}>{itemName(grade)}</a>
      {grade.label === '' ? null : <small>{shown(grade.itemId, 48)}</small>}
    </>
  )
}
