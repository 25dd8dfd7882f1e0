import type { Child } from 'hono/jsx'
import { type Grade, grades } from '../../contract/grades.ts'
import { gradeRoutes } from '../grades/grades.ts'
import { itemName } from './grade-items.ts'
import { nextPage, pageAsked } from './paging.tsx'
import { Score } from './score.tsx'
import { ask, type SignedInRequest } from './signed-in-request.ts'
import { type Column, Table } from './table.tsx'
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
  const { data, nextCursor } = await ask(signedIn, gradeRoutes, grades.list, {
    query: { ...pageAsked(signedIn), learner_id: learnerId, course_id: courseId, sort: '-gradedAt' },
  })
  const course: readonly Column[] = courseId === undefined ? [{ name: 'Course', look: 'broad' }] : []
  const pages = nextPage(signedIn, nextCursor)
  if (data.length === 0)
    return pages ? (
      <>
        {none}
        {pages}
      </>
    ) : (
      none
    )
  return (
    <>
      <Table
        caption={caption}
        columns={[
          { name: 'Item' },
          ...course,
          { name: 'Grade', look: 'figures' },
          { name: 'Source' },
          { name: 'Graded' },
        ]}
        rows={data.map((grade) => [
          <Item base={signedIn.base} grade={grade} />,
          ...(courseId === undefined
            ? [
                <a href={`${signedIn.base}/dashboard/courses/${encodeURIComponent(grade.courseId)}`}>
                  {grade.courseTitle}
                </a>,
              ]
            : []),
          <Score grade={grade} />,
          shown(grade.source, 48),
          <Day time={grade.gradedAt} />,
        ])}
      />
      {pages}
    </>
  )
}

function Item({ base, grade }: { base: string; grade: Grade }) {
  return (
    <>
      <a href={`${base}/dashboard/grades/${encodeURIComponent(grade.id)}`}>{itemName(grade)}</a>
      {grade.label === '' ? null : <small>{shown(grade.itemId, 48)}</small>}
    </>
  )
}
