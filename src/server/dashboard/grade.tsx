import type { Child } from 'hono/jsx'
import { lineOf } from '../../codec/display-text.ts'
import { analytics } from '../../contract/analytics.ts'
import { wholeCourse } from '../../contract/constants.ts'
import { deliveries } from '../../contract/deliveries.ts'
import { type Grade, type GradeStep, grades } from '../../contract/grades.ts'
import { isRole } from '../http/handler.ts'
import { ask, type SignedInRequest } from './call-api.ts'
import type { DashboardPage } from './dashboard-page.ts'
import { framePage } from './frame.tsx'
import { type List, ListCard, type ListColumn, ListTable } from './list.tsx'
import { nextPage, pageQueryOf } from './paging.tsx'
import { Day, Facts, formatPercent, Minute } from './values.tsx'

/** Learners see their own. */
export const gradePage: DashboardPage = {
  path: '/dashboard/grades/:gradeId',
  async show(signedIn) {
    const grade = await ask(signedIn, grades.get)
    const steps = await ask(signedIn, grades.history, { query: pageQueryOf(signedIn) })
    const isStaff = isRole(signedIn, ...analytics.learners.roles)
    const { learnerId, courseId, courseTitle, userEmail } = grade
    const course = `${signedIn.base}/dashboard/courses/${encodeURIComponent(courseId)}`
    const learner = `${signedIn.base}/dashboard/learners/${encodeURIComponent(learnerId)}/grades`
    return framePage(
      signedIn,
      {
        title: `Grade of ${userEmail}: ${itemName(grade)}`,
        section: isStaff ? '/dashboard/people' : '/dashboard/courses',
      },
      <>
        <p class="back">
          {isStaff ? (
            <a href={learner}>{`Grades of ${lineOf(userEmail, 254)}`}</a>
          ) : (
            <a href={course}>{lineOf(courseTitle, 255)}</a>
          )}
        </p>
        <h1>{lineOf(grade.label, 255) || itemName(grade)}</h1>
        <section class="card" aria-labelledby="facts">
          <h2 id="facts">Grade</h2>
          <Facts
            facts={[
              ['Grade', <Score grade={grade} />],
              ['Learner', isStaff ? <a href={learner}>{lineOf(userEmail, 254)}</a> : lineOf(userEmail, 254)],
              ['Course', <a href={isStaff ? `${course}/grades` : course}>{lineOf(courseTitle, 255)}</a>],
              ['Item ID', <code>{lineOf(grade.itemId, 255)}</code>],
              ['Source', <Source signedIn={signedIn} from={grade} source={grade.source} />],
              ...(grade.weight === null ? [] : [['Weight', formatPercent(grade.weight)] as const]),
              ['Graded', <Minute time={grade.gradedAt} />],
              ['ID', <code>{grade.id}</code>],
            ]}
          />
        </section>
        <ListCard signedIn={signedIn} list={history} listed={steps} />
      </>,
    )
  },
}

const history: List<GradeStep> = {
  id: 'history',
  title: 'History',
  caption: 'Scores of this grade, newest first',
  columns: [
    { name: 'Version', cell: ({ version }) => String(version) },
    { name: 'Score', cell: (step) => <StepScore step={step} /> },
    { name: 'Graded', cell: ({ gradedAt }) => <Minute time={gradedAt} /> },
    { name: 'Recorded', cell: ({ recordedAt }) => <Minute time={recordedAt} /> },
    {
      name: 'Recorded by',
      look: 'broad',
      cell: (step, signedIn) => (
        <Source signedIn={signedIn} from={step} source={step.recordedByEmail ?? step.recordedBy} />
      ),
    },
  ],
}

function StepScore({ step: { scoreGiven, scoreMaximum, published } }: { step: GradeStep }) {
  return (
    <>
      {scoreGiven === null ? (
        <span class="none">Cleared</span>
      ) : (
        `${scoreText(scoreGiven)} of ${scoreText(scoreMaximum)}`
      )}
      {published ? null : <small>Not published</small>}
    </>
  )
}

/** Linked to its delivery for roles that can read deliveries. */
function Source({
  signedIn,
  from: { deliveryId },
  source,
}: {
  signedIn: SignedInRequest
  from: Pick<Grade, 'deliveryId'>
  source: string
}) {
  const isSeen = deliveryId !== null && isRole(signedIn, ...deliveries.get.roles)
  return (
    <>
      {lineOf(source, 254)}
      {isSeen ? (
        <small>
          <a href={`${signedIn.base}/dashboard/deliveries/${encodeURIComponent(deliveryId)}`}>Delivery</a>
        </small>
      ) : null}
    </>
  )
}

/** Latest first, in one course or in all. */
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
  /** Content in place of a table without rows. */
  none: Child
}) {
  const listed = await ask(signedIn, grades.list, {
    query: { ...pageQueryOf(signedIn), learner_id: learnerId, course_id: courseId, sort: '-gradedAt' },
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
  { name: 'Source', cell: ({ source }) => lineOf(source, 48) },
  { name: 'Graded', cell: ({ gradedAt }) => <Day time={gradedAt} /> },
]

function Item({ base, grade }: { base: string; grade: Grade }) {
  return (
    <>
      <a href={`${base}/dashboard/grades/${encodeURIComponent(grade.id)}`}>{itemName(grade)}</a>
      {grade.label === '' ? null : <small>{lineOf(grade.itemId, 48)}</small>}
    </>
  )
}

/** In per cent, and the given score if it has another maximum. */
export function Score({
  grade,
  base,
}: {
  grade: Grade | undefined
  /** URL prefix of the dashboard; if given, the score links to its page. */
  base?: string
}) {
  if (!grade) return <span class="none">–</span>
  const { scoreGiven, scoreMaximum, published } = grade
  const score = scoreGiven === null ? 'Cleared' : formatPercent(grade.percent)
  const linked =
    base === undefined ? (
      score
    ) : (
      <a href={`${base}/dashboard/grades/${encodeURIComponent(grade.id)}`}>{score}</a>
    )
  if (scoreGiven === null) return <span class="none">{linked}</span>
  return (
    <>
      {linked}
      {scoreMaximum === 100 ? null : (
        <small>{`${scoreText(scoreGiven)} of ${scoreText(scoreMaximum)}`}</small>
      )}
      {published ? null : <small>Not published</small>}
    </>
  )
}

const decimal = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 4 })

/** To four decimals. */
function scoreText(value: number): string {
  return decimal.format(value)
}

/** Its id if it has no label. */
export function itemName({ label, itemId }: Pick<Grade, 'label' | 'itemId'>): string {
  return lineOf(label || (itemId === wholeCourse ? 'Whole course' : itemId), 48)
}
