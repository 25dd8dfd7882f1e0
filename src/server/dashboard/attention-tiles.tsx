import type { Child } from 'hono/jsx'
import { lineOf } from '../../codec/display-text.ts'
import { type Attention, attentionDays, attentionKinds, stuckBelow } from '../../contract/constants.ts'
import { Card } from '../../report/elements.tsx'
import type { CourseAttention as Concerned, Standing } from '../analytics/standing.ts'
import { countOf, formatCount } from './values.tsx'

export const attentionWords: Readonly<Record<Attention, string>> = {
  inactive: 'Inactive',
  stuck: 'Stuck',
  not_passed: 'Not passed',
}

const attentionMeanings: Readonly<Record<Attention, string>> = {
  inactive: `No access for ${attentionDays} days, not completed`,
  stuck: `Below ${stuckBelow}%, no progress for ${attentionDays} days`,
  not_passed: 'Grade below the passing score',
}

const maxCourses = 3
const maxFoldedCourses = 20

export function CourseAttention({ standing, here }: { standing: Standing; here: string }) {
  const tile = (kind: Attention, count: number) => ({
    figure: count === 0 ? '0' : <a href={linkTo(here, kind)}>{formatCount(count)}</a>,
  })
  return <AttentionTiles standing={standing} tile={tile} />
}

export function AcademyAttention({
  standing,
  courses,
  courseUrl,
}: {
  standing: Standing
  courses: readonly Concerned[]
  courseUrl: (courseId: string) => string
}) {
  const tile = (kind: Attention, count: number) => {
    const concerned = courses
      .filter(({ attention }) => attention[kind] > 0)
      .sort((one, other) => other.attention[kind] - one.attention[kind])
    const titles = Map.groupBy(courses, ({ courseTitle }) => courseTitle)
    const nameOf = ({ courseTitle, courseExternalId, courseId }: Concerned) =>
      titles.get(courseTitle)?.length === 1
        ? courseTitle
        : `${courseTitle} (${lineOf(courseExternalId ?? courseId, 64)})`
    const list = (some: readonly Concerned[]) => (
      <ul class="plain">
        {some.map((course) => (
          <li>
            <a href={linkTo(courseUrl(course.courseId), kind)}>
              <span class="unseen">{attentionWords[kind]} in </span>
              {nameOf(course)}: {formatCount(course.attention[kind])}
            </a>
          </li>
        ))}
      </ul>
    )
    const more = concerned.slice(maxCourses)
    return {
      figure: formatCount(count),
      below: (
        <>
          {list(concerned.slice(0, maxCourses))}
          {more.length === 0 ? null : (
            <details>
              <summary>{countOf(more.length, 'more course')}</summary>
              {list(more.slice(0, maxFoldedCourses))}
              {more.length > maxFoldedCourses ? (
                <p class="note">{`and ${formatCount(more.length - maxFoldedCourses)} with fewer`}</p>
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
  // Without grades there is no pass or fail.
  const kinds = attentionKinds.filter((kind) => kind !== 'not_passed' || averageGradePercent !== null)
  return (
    <Card id="attention" title="Needs attention">
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
    </Card>
  )
}

function linkTo(place: string, attention: Attention): string {
  return `${place}?attention=${attention}#learners`
}
