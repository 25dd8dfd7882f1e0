import * as z from 'zod'
import { analytics } from '../../contract/analytics.ts'
import { type Course, courses } from '../../contract/courses.ts'
import { pageOfLearners } from '../analytics/course-learners.ts'
import { standingOfCourse } from '../analytics/standing.ts'
import { courseReadRoutes } from '../courses/courses.ts'
import { gradesOfLearners, hasGrades, mostGrades } from '../grades/course-grades.ts'
import { requireRight } from '../http/handler.ts'
import { parseQuery } from '../http/validation.ts'
import { courseHeading } from './course-heading.tsx'
import type { DashboardPage } from './dashboard-page.ts'
import { Figures } from './figures.tsx'
import { framed } from './frame.tsx'
import { GradeMatrix, itemSearch } from './grade-matrix.tsx'
import { filterOf, learnerQueryOf } from './learner-query.ts'
import { LearnerSearch } from './learner-search.tsx'
import { numberedPages, pageSize } from './paging.tsx'
import { PartNote } from './part-note.tsx'
import { ask, type SignedInRequest } from './signed-in-request.ts'
import { counted, percent } from './value-text.tsx'

const Items = z.strictObject({ items: z.coerce.number().int().min(1).max(10_000).default(1) })

/** The grades of a course, for those who work for the academy: its learners, each with their grades. */
export const courseGradesPage: DashboardPage = {
  path: '/dashboard/courses/:courseId/grades',
  isLong: () => true,
  async show(signedIn) {
    requireRight(signedIn.principal, analytics.learners)
    const course = await ask(signedIn, courseReadRoutes, courses.get, { params: signedIn.params })
    return framed(
      signedIn,
      { title: `Grades of ${course.title}`, section: '/dashboard' },
      <>
        {await courseHeading({ signedIn, course, shown: 'Grades' })}
        {await learnersWithGrades({ signedIn, course })}
      </>,
    )
  },
}

async function learnersWithGrades({ signedIn, course }: { signedIn: SignedInRequest; course: Course }) {
  const { database, request, base } = signedIn
  const query = learnerQueryOf(signedIn)
  const given = [...signedIn.query].filter(([name]) => name === 'items')
  const { items } = parseQuery(Items, `${new URLSearchParams(given)}`)
  const standing = await standingOfCourse(database, course.id, request.now)
  const { rows, total, isPart } = await pageOfLearners(database, filterOf(course.id, query), request.now, {
    size: pageSize,
    from: (query.page - 1) * pageSize,
    learners: standing.enrollments,
  })
  const grades = await gradesOfLearners(
    database,
    course.id,
    rows.map(({ learnerId }) => learnerId),
  )
  const here = base + request.path
  return (
    <>
      <Figures
        figures={[
          ['Learners', counted(standing.enrollments)],
          ['Average grade', percent(standing.averageGradePercent)],
          ['Passing score', percent(course.assessmentCriteria.passingScore)],
        ]}
      />
      <section class="card" aria-labelledby="learners">
        <h2 id="learners">Grades</h2>
        {standing.averageGradePercent === null ? null : (
          <nav class="filter" aria-label="Learners by verdict">
            <ul>
              {[
                { word: 'All', count: standing.enrollments, attention: undefined },
                {
                  word: 'Not passed',
                  count: standing.attention.not_passed,
                  attention: 'not_passed' as const,
                },
              ].map(({ word, count, attention }) => (
                <li>
                  <a
                    href={`${here}${itemSearch({ ...query, attention, page: 1 }, items)}#learners`}
                    aria-current={query.attention === attention ? 'true' : undefined}
                  >
                    {word} {query.q ? null : <span>{counted(count)}</span>}
                  </a>
                </li>
              ))}
            </ul>
          </nav>
        )}
        <LearnerSearch here={here} query={query} />
        {isPart ? <PartNote /> : null}
        {standing.enrollments > 0 && grades.length === 0 && !(await hasGrades(database, course.id)) ? (
          <>
            <p>No grades yet. Record one, or connect the system that has them under Integrations.</p>
            <code class="code">{`learnctl grades set email:ada@example.org --course ${course.id} --item exam-1 --score 85`}</code>
          </>
        ) : null}
        {grades.length === mostGrades ? (
          <p class="note">These learners have more grades than this page shows. Download all.</p>
        ) : null}
        {rows.length === 0 ? (
          <p>{noneOf(standing.enrollments, total)}</p>
        ) : (
          <GradeMatrix at={items} {...{ base, here, query, rows, grades }} />
        )}
        <div class="below">
          {total === 0
            ? null
            : numberedPages(
                query.page,
                total,
                (page) => `${here}${itemSearch({ ...query, page }, items)}#learners`,
              )}
          <a class="button" href={`${here}.csv`}>
            Download all grades (CSV)
          </a>
        </div>
      </section>
    </>
  )
}

/** Why no learner is listed. */
function noneOf(enrollments: number, matching: number): string {
  if (enrollments === 0) return 'No learners enrolled yet.'
  return matching === 0 ? 'No learners match.' : 'No learners on this page.'
}
