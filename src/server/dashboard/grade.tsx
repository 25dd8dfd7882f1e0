import type { Child } from 'hono/jsx'
import { lineOf } from '../../codec/display-text.ts'
import { wholeCourse } from '../../contract/constants.ts'
import { deliveries } from '../../contract/deliveries.ts'
import { type Grade, type GradeStep, grades } from '../../contract/grades.ts'
import { Card } from '../../report/elements.tsx'
import { isRole } from '../http/handler.ts'
import { ask, type SignedInRequest } from './call-api.ts'
import { seesLearners } from './courses.tsx'
import type { DashboardPage } from './dashboard-page.ts'
import { framePage } from './frame.tsx'
import { type List, type ListColumn, listCard, listTable } from './list.tsx'
import { nextPage, pageQueryOf } from './list-parameters.tsx'
import { Day, factList, formatPercent, Minute, none, recordLink, recordUrl } from './values.tsx'

/** Learners see their own. */
export const gradePage: DashboardPage = {
  path: '/dashboard/grades/:gradeId',
  async show(signedIn) {
    const grade = await ask(signedIn, grades.get)
    const steps = await ask(signedIn, grades.history, { query: pageQueryOf(signedIn) })
    const isStaff = seesLearners(signedIn)
    const { learnerId, courseId, courseTitle, userEmail } = grade
    const course = recordUrl(signedIn, 'courses', courseId)
    const learner = `${recordUrl(signedIn, 'learners', learnerId)}/grades`
    const [person, title] = [lineOf(userEmail, 254), lineOf(courseTitle, 255)]
    return framePage(
      signedIn,
      {
        title: `Grade of ${userEmail}: ${itemName(grade)}`,
        section: isStaff ? '/dashboard/people' : '/dashboard/courses',
        back: isStaff ? [learner, `Grades of ${person}`] : [course, title],
        heading: lineOf(grade.label, 255) || itemName(grade),
      },
      <Card id="facts" title="Grade">
        {factList([
          ['Grade', scoreOf(grade)],
          ['Learner', isStaff ? <a href={learner}>{person}</a> : person],
          ['Course', <a href={isStaff ? `${course}/grades` : course}>{title}</a>],
          ['Item ID', <code>{lineOf(grade.itemId, 255)}</code>],
          ['Source', sourceOf(signedIn, grade, grade.source)],
          ['Weight', grade.weight !== null && formatPercent(grade.weight)],
          ['Graded', <Minute time={grade.gradedAt} />],
          ['ID', <code>{grade.id}</code>],
        ])}
      </Card>,
      listCard(signedIn, history, steps),
    )
  },
}

const history: List<GradeStep> = {
  id: 'history',
  title: 'History',
  caption: 'Scores of this grade, newest first',
  columns: [
    { name: 'Version', cell: ({ version }) => String(version) },
    {
      name: 'Score',
      cell: ({ scoreGiven, scoreMaximum, published }) => (
        <>
          {scoreGiven === null ? <span class="none">Cleared</span> : ofMaximum(scoreGiven, scoreMaximum)}
          {published ? null : <small>Not published</small>}
        </>
      ),
    },
    { name: 'Graded', cell: ({ gradedAt }) => <Minute time={gradedAt} /> },
    { name: 'Recorded', cell: ({ recordedAt }) => <Minute time={recordedAt} /> },
    {
      name: 'Recorded by',
      look: 'broad',
      cell: (step, signedIn) => sourceOf(signedIn, step, step.recordedByEmail ?? step.recordedBy),
    },
  ],
}

function sourceOf(
  signedIn: SignedInRequest,
  { deliveryId }: Pick<Grade, 'deliveryId'>,
  source: string,
): Child {
  const isSeen = deliveryId !== null && isRole(signedIn, ...deliveries.get.roles)
  return (
    <>
      {lineOf(source, 254)}
      {isSeen ? <small>{recordLink(signedIn, 'deliveries', deliveryId, 'Delivery')}</small> : null}
    </>
  )
}

export async function gradeList(
  signedIn: SignedInRequest,
  {
    learnerId,
    courseId,
    caption,
    none,
  }: {
    learnerId: string
    courseId?: string
    caption: string
    none: Child
  },
): Promise<Child> {
  const listed = await ask(signedIn, grades.list, {
    query: { ...pageQueryOf(signedIn), learner_id: learnerId, course_id: courseId, sort: '-gradedAt' },
  })
  const columns = courseId === undefined ? gradeColumns : gradeColumns.filter(({ name }) => name !== 'Course')
  const isNothing = listed.data.length === 0 && nextPage(signedIn, listed.nextCursor) === null
  return isNothing ? none : listTable(signedIn, { caption, columns }, listed, none)
}

const gradeColumns: readonly ListColumn<Grade>[] = [
  {
    name: 'Item',
    cell: (grade, signedIn) => (
      <>
        {recordLink(signedIn, 'grades', grade.id, itemName(grade))}
        {grade.label === '' ? null : <small>{lineOf(grade.itemId, 48)}</small>}
      </>
    ),
  },
  {
    name: 'Course',
    look: 'broad',
    cell: ({ courseId, courseTitle }, signedIn) => recordLink(signedIn, 'courses', courseId, courseTitle),
  },
  { name: 'Grade', look: 'figures', cell: (grade) => scoreOf(grade) },
  { name: 'Source', cell: ({ source }) => lineOf(source, 48) },
  { name: 'Graded', cell: ({ gradedAt }) => <Day time={gradedAt} /> },
]

export function scoreOf(grade: Grade | undefined, signedIn?: SignedInRequest): Child {
  if (!grade) return none
  const { id, scoreGiven, scoreMaximum, published, percent } = grade
  const score = scoreGiven === null ? 'Cleared' : formatPercent(percent)
  const linked = signedIn ? recordLink(signedIn, 'grades', id, score) : score
  if (scoreGiven === null) return <span class="none">{linked}</span>
  return (
    <>
      {linked}
      {scoreMaximum === 100 ? null : <small>{ofMaximum(scoreGiven, scoreMaximum)}</small>}
      {published ? null : <small>Not published</small>}
    </>
  )
}

const decimal = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 4 })

/** To four decimals. */
function ofMaximum(score: number, maximum: number): string {
  return `${decimal.format(score)} of ${decimal.format(maximum)}`
}

export function itemName({ label, itemId }: Pick<Grade, 'label' | 'itemId'>): string {
  return lineOf(label || (itemId === wholeCourse ? 'Whole course' : itemId), 48)
}
