import type { Child } from 'hono/jsx'
import { lineOf } from '../../codec/display-text.ts'
import { analytics } from '../../contract/analytics.ts'
import { wholeCourse } from '../../contract/constants.ts'
import { deliveries } from '../../contract/deliveries.ts'
import { type Grade, type GradeStep, grades } from '../../contract/grades.ts'
import { Card } from '../../report/elements.tsx'
import { isRole } from '../http/handler.ts'
import { ask, type SignedInRequest } from './call-api.ts'
import type { DashboardPage } from './dashboard-page.ts'
import { Back, framePage } from './frame.tsx'
import { type List, ListCard, type ListColumn, ListTable } from './list.tsx'
import { nextPage, pageQueryOf } from './paging.tsx'
import { Day, Facts, formatPercent, Minute, none, recordUrl } from './values.tsx'

/** Learners see their own. */
export const gradePage: DashboardPage = {
  path: '/dashboard/grades/:gradeId',
  async show(signedIn) {
    const grade = await ask(signedIn, grades.get)
    const steps = await ask(signedIn, grades.history, { query: pageQueryOf(signedIn) })
    const isStaff = isRole(signedIn, ...analytics.learners.roles)
    const { learnerId, courseId, courseTitle, userEmail } = grade
    const course = recordUrl(signedIn, 'courses', courseId)
    const learner = `${recordUrl(signedIn, 'learners', learnerId)}/grades`
    const [person, title] = [lineOf(userEmail, 254), lineOf(courseTitle, 255)]
    return framePage(
      signedIn,
      {
        title: `Grade of ${userEmail}: ${itemName(grade)}`,
        section: isStaff ? '/dashboard/people' : '/dashboard/courses',
      },
      <>
        {isStaff ? <Back to={learner}>{`Grades of ${person}`}</Back> : <Back to={course}>{title}</Back>}
        <h1>{lineOf(grade.label, 255) || itemName(grade)}</h1>
        <Card id="facts" title="Grade">
          <Facts
            facts={[
              ['Grade', <Score grade={grade} />],
              ['Learner', isStaff ? <a href={learner}>{person}</a> : person],
              ['Course', <a href={isStaff ? `${course}/grades` : course}>{title}</a>],
              ['Item ID', <code>{lineOf(grade.itemId, 255)}</code>],
              ['Source', <Source signedIn={signedIn} from={grade} source={grade.source} />],
              ['Weight', grade.weight !== null && formatPercent(grade.weight)],
              ['Graded', <Minute time={grade.gradedAt} />],
              ['ID', <code>{grade.id}</code>],
            ]}
          />
        </Card>
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
          <a href={recordUrl(signedIn, 'deliveries', deliveryId)}>Delivery</a>
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
  {
    name: 'Item',
    cell: (grade, signedIn) => (
      <>
        <a href={recordUrl(signedIn, 'grades', grade.id)}>{itemName(grade)}</a>
        {grade.label === '' ? null : <small>{lineOf(grade.itemId, 48)}</small>}
      </>
    ),
  },
  {
    name: 'Course',
    look: 'broad',
    cell: ({ courseId, courseTitle }, signedIn) => (
      <a href={recordUrl(signedIn, 'courses', courseId)}>{courseTitle}</a>
    ),
  },
  { name: 'Grade', look: 'figures', cell: (grade) => <Score grade={grade} /> },
  { name: 'Source', cell: ({ source }) => lineOf(source, 48) },
  { name: 'Graded', cell: ({ gradedAt }) => <Day time={gradedAt} /> },
]

/** In per cent, and the given score if it has another maximum. */
export function Score({
  grade,
  signedIn,
}: {
  grade: Grade | undefined
  /** If given, the score links to its page. */
  signedIn?: SignedInRequest
}) {
  if (!grade) return none
  const { id, scoreGiven, scoreMaximum, published, percent } = grade
  const score = scoreGiven === null ? 'Cleared' : formatPercent(percent)
  const linked = signedIn ? <a href={recordUrl(signedIn, 'grades', id)}>{score}</a> : score
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
