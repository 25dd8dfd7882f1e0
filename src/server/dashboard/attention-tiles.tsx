import type { Child } from 'hono/jsx'
import { type Attention, attentionKinds, quietDays, stuckBelow } from '../analytics/attention.ts'
import type { CourseAttention as Concerned, Standing } from '../analytics/standing.ts'
import { searchOf } from './learner-query.ts'
import { counted, many, shown } from './value-text.tsx'

/** A reason to look after a learner, in a word. */
export const attentionWords: Readonly<Record<Attention, string>> = {
  inactive: 'Inactive',
  stuck: 'Stuck',
  not_passed: 'Not passed',
}

/** What each of those words means here. */
const attentionMeanings: Readonly<Record<Attention, string>> = {
  inactive: `No access for ${quietDays} days, not completed`,
  stuck: `Below ${stuckBelow}%, no progress for ${quietDays} days`,
  not_passed: 'Grade below the passing score',
}

const coursesShown = 3
const coursesFolded = 20

/** Who needs attention in one course: each count leads to those learners. */
export function CourseAttention({ standing, here }: { standing: Standing; here: string }) {
  const tile = (kind: Attention, count: number) => ({
    figure: count === 0 ? '0' : <a href={linkTo(here, kind)}>{counted(count)}</a>,
  })
  return <AttentionTiles standing={standing} tile={tile} />
}

/** Who needs attention in all courses, and in which of them most: each of those leads to the learners. */
export function AcademyAttention({
  standing,
  courses,
  placeOf,
}: {
  standing: Standing
  courses: readonly Concerned[]
  /** The address of a course's page. */
  placeOf: (courseId: string) => string
}) {
  const tile = (kind: Attention, count: number) => {
    const concerned = courses
      .filter(({ attention }) => attention[kind] > 0)
      .sort((one, other) => other.attention[kind] - one.attention[kind])
    const titles = Map.groupBy(courses, ({ courseTitle }) => courseTitle)
    const nameOf = ({ courseTitle, courseExternalId, courseId }: Concerned) =>
      titles.get(courseTitle)?.length === 1
        ? courseTitle
        : `${courseTitle} (${shown(courseExternalId ?? courseId, 64)})`
    const list = (some: readonly Concerned[]) => (
      <ul class="plain">
        {some.map((course) => (
          <li>
            <a href={linkTo(placeOf(course.courseId), kind)}>
              <span class="unseen">{attentionWords[kind]} in </span>
              {nameOf(course)}: {counted(course.attention[kind])}
            </a>
          </li>
        ))}
      </ul>
    )
    const more = concerned.slice(coursesShown)
    return {
      figure: counted(count),
      below: (
        <>
          {list(concerned.slice(0, coursesShown))}
          {more.length === 0 ? null : (
            <details>
              <summary>{many(more.length, 'more course')}</summary>
              {list(more.slice(0, coursesFolded))}
              {more.length > coursesFolded ? (
                <p class="note">{`and ${counted(more.length - coursesFolded)} with fewer`}</p>
              ) : null}
            </details>
          )}
        </>
      ),
    }
  }
  return <AttentionTiles standing={standing} tile={tile} />
}

function AttentionTiles({
  standing: { attention, averageGradePercent },
  tile,
}: {
  standing: Standing
  tile: (kind: Attention, count: number) => { readonly figure: Child; readonly below?: Child }
}) {
  // Where nothing is graded, nobody passes or fails.
  const kinds = attentionKinds.filter((kind) => kind !== 'not_passed' || averageGradePercent !== null)
  return (
    <section class="card" aria-labelledby="attention">
      <h2 id="attention">Needs attention</h2>
      <dl class="attention">
        {kinds.map((kind) => {
          const { figure, below } = tile(kind, attention[kind])
          return (
            <div class={attention[kind] === 0 ? 'nothing' : undefined}>
              <dt>{attentionWords[kind]}</dt>
              <dd class="figure">{figure}</dd>
              <dd class="note">{attentionMeanings[kind]}</dd>
              {attention[kind] > 0 && below ? <dd>{below}</dd> : null}
            </div>
          )
        })}
      </dl>
    </section>
  )
}

function linkTo(place: string, attention: Attention): string {
  return `${place}${searchOf({ attention })}#learners`
}
