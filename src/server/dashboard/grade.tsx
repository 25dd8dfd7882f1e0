import { analytics } from '../../contract/analytics.ts'
import { deliveries } from '../../contract/deliveries.ts'
import { type Grade, type GradeStep, grades } from '../../contract/grades.ts'
import { gradeRoutes } from '../grades/grades.ts'
import { isRole } from '../http/handler.ts'
import type { DashboardPage } from './dashboard-page.ts'
import { Facts } from './facts.tsx'
import { framed } from './frame.tsx'
import { itemName } from './grade-items.ts'
import { type List, ListCard } from './list.tsx'
import { pageAsked } from './paging.tsx'
import { Score, scoreText } from './score.tsx'
import { ask, type SignedInRequest } from './signed-in-request.ts'
import { Minute, percent, shown } from './value-text.tsx'

/** One grade: whose it is, in what, where it came from, and each score before. A learner sees their own. */
export const gradePage: DashboardPage = {
  path: '/dashboard/grades/:gradeId',
  async show(signedIn) {
    const { params } = signedIn
    const grade = await ask(signedIn, gradeRoutes, grades.get, { params })
    const steps = await ask(signedIn, gradeRoutes, grades.history, { params, query: pageAsked(signedIn) })
    const isStaff = isRole(signedIn, ...analytics.learners.roles)
    const { learnerId, courseId, courseTitle, userEmail } = grade
    const course = `${signedIn.base}/dashboard/courses/${encodeURIComponent(courseId)}`
    const learner = `${signedIn.base}/dashboard/learners/${encodeURIComponent(learnerId)}/grades`
    return framed(
      signedIn,
      { title: `Grade of ${userEmail}: ${itemName(grade)}`, section: '/dashboard' },
      <>
        <p class="back">
          {isStaff ? (
            <a href={learner}>{`Grades of ${shown(userEmail, 254)}`}</a>
          ) : (
            <a href={course}>{shown(courseTitle, 255)}</a>
          )}
        </p>
        <h1>{shown(grade.label, 255) || itemName(grade)}</h1>
        <section class="card" aria-labelledby="facts">
          <h2 id="facts">Grade</h2>
          <Facts
            facts={[
              ['Grade', <Score grade={grade} />],
              ['Learner', isStaff ? <a href={learner}>{shown(userEmail, 254)}</a> : shown(userEmail, 254)],
              ['Course', <a href={isStaff ? `${course}/grades` : course}>{shown(courseTitle, 255)}</a>],
              ['Item ID', <code>{shown(grade.itemId, 255)}</code>],
              ['Source', <Source signedIn={signedIn} from={grade} source={grade.source} />],
              ...(grade.weight === null ? [] : [['Weight', percent(grade.weight)] as const]),
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

/** Where a score came from, with the way to the delivery for those who may see it. */
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
      {shown(source, 254)}
      {isSeen ? (
        <small>
          <a href={`${signedIn.base}/dashboard/deliveries/${encodeURIComponent(deliveryId)}`}>Delivery</a>
        </small>
      ) : null}
    </>
  )
}
