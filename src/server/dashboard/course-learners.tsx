import { type Course, courses } from '../../contract/courses.ts'
import { progressStatuses } from '../../contract/progress.ts'
import { attentionKinds } from '../analytics/attention.ts'
import { pageOfLearners } from '../analytics/course-learners.ts'
import { type Standing, standingOfCourse } from '../analytics/standing.ts'
import { isRole } from '../http/handler.ts'
import { attentionWords, CourseAttention } from './attention-tiles.tsx'
import { CompletionChart } from './completion-chart.tsx'
import { Figures } from './figures.tsx'
import { filterOf, type LearnerQuery, learnerQueryOf, searchOf } from './learner-query.ts'
import { LearnerSearch } from './learner-search.tsx'
import { LearnerTable } from './learner-table.tsx'
import { nextSteps } from './next-steps.tsx'
import { numberedPages, pageSize } from './paging.tsx'
import { PartNote } from './part-note.tsx'
import type { SignedInRequest } from './signed-in-request.ts'
import { counted, percent, statusWords } from './value-text.tsx'

/** The learners of a course, for those who work for the academy: who needs attention, figures, and all of them. */
export async function courseLearners({ signedIn, course }: { signedIn: SignedInRequest; course: Course }) {
  const { database } = signedIn
  const { now } = signedIn.request
  const query = learnerQueryOf(signedIn)
  const standing = await standingOfCourse(database, course.id, now)
  if (standing.enrollments === 0) {
    return (
      <section class="card" aria-labelledby="learners">
        <h2 id="learners">Learners</h2>
        <p>No learners enrolled yet.</p>
        {isRole(signedIn, ...courses.update.roles) ? await nextSteps(signedIn, course) : null}
      </section>
    )
  }
  const here = signedIn.base + signedIn.request.path
  const graded = standing.averageGradePercent !== null
  const from = (query.page - 1) * pageSize
  const { rows, total, isPart } = await pageOfLearners(database, filterOf(course.id, query), now, {
    size: pageSize,
    from,
    learners: standing.enrollments,
  })
  return (
    <>
      <CourseAttention standing={standing} here={here} />
      <Figures
        figures={[
          ['Learners', counted(standing.enrollments)],
          ['Average completion', percent(standing.averageCompletionPercentage)],
          ['Median completion', percent(standing.medianCompletionPercentage)],
          ...(graded ? [['Average grade', percent(standing.averageGradePercent)] as const] : []),
        ]}
      />
      <CompletionChart standing={standing} />
      <section class="card" aria-labelledby="learners">
        <h2 id="learners">Learners</h2>
        <Filters {...{ here, standing, query, graded }} />
        <LearnerSearch here={here} query={query} />
        {isPart ? <PartNote /> : null}
        {rows.length === 0 ? (
          <p>{total === 0 ? 'No learners match.' : 'No learners on this page.'}</p>
        ) : (
          <LearnerTable base={signedIn.base} {...{ here, query, graded, rows }} />
        )}
        {total === 0 ? null : (
          <div class="below">
            {numberedPages(query.page, total, (page) => `${here}${searchOf({ ...query, page })}#learners`)}
            <a class="button" href={`${here}/learners.csv${searchOf({ ...query, page: 1 })}`}>
              Download CSV
            </a>
          </div>
        )}
      </section>
    </>
  )
}

/** All, by status, or by what needs attention: one at a time, each with how many there are of it. */
function Filters({
  here,
  standing,
  query,
  graded,
}: {
  here: string
  standing: Standing
  query: LearnerQuery
  graded: boolean
}) {
  const byStatus = {
    not_started: standing.notStarted,
    in_progress: standing.inProgress,
    completed: standing.completed,
  }
  const choices = [
    { word: 'All', count: standing.enrollments, only: {}, apart: false },
    ...progressStatuses.map((status) => ({
      word: statusWords[status],
      count: byStatus[status],
      only: { status },
      apart: false,
    })),
    ...attentionKinds
      .filter((kind) => kind !== 'not_passed' || graded)
      .map((attention, index) => ({
        apart: index === 0,
        word: attentionWords[attention],
        count: standing.attention[attention],
        only: { attention },
      })),
  ]
  const { q, sort } = query
  const chosen = searchOf({ ...query, page: 1 })
  return (
    <nav class="filter" aria-label="Learners by status">
      <ul>
        {choices.map(({ word, count, only, apart }) => {
          const search = searchOf({ ...only, q, sort })
          return (
            <li class={apart ? 'apart' : undefined}>
              <a href={`${here}${search}#learners`} aria-current={search === chosen ? 'true' : undefined}>
                {word} {q ? null : <span>{counted(count)}</span>}
              </a>
            </li>
          )
        })}
      </ul>
    </nav>
  )
}
