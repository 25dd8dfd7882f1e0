import sql, { join } from 'sql-template-tag'
import { expect } from 'vitest'
import type { Course } from '../../../src/contract/courses.ts'
import type { Database } from '../../../src/server/database/database.ts'
import { type Person, type TestAcademy, test } from '../../helpers/academy.ts'

const learners = 620
const time = '2026-01-01T00:00:00.000Z'

/** Makes a course with many learners, each with 40 % in one item and 80 % in another; 70 % passes. */
async function largeCourse({ database }: TestAcademy, admin: Person): Promise<Course> {
  const assessmentCriteria = { passingScore: 70, moveOn: 'Passed' }
  const course = { title: 'Logic', externalId: 'LOG', status: 'published', assessmentCriteria }
  const { id } = (await admin.post('/v1/courses', course)).body
  const all = Array.from({ length: learners }, (_, index) => String(index).padStart(4, '0'))
  await database.write(async (transaction) => {
    const put = (into: string, row: (name: string) => ReturnType<typeof sql>) =>
      transaction.run(sql`${sql([`insert into ${into} values `])}${join(all.map(row))}`)
    await put(
      'users (id, email, email_key, role, status, profile, search_key, version, created_at, updated_at)',
      (name) =>
        sql`(${`usr_${name}`}, ${name}, ${name}, 'learner', 'active', '{}', ${name}, 1, ${time}, ${time})`,
    )
    await put(
      'enrollments (id, course_id, user_id, role, status, enrolled_at, source, version, created_at, updated_at)',
      (name) =>
        sql`(${`enr_${name}`}, ${id}, ${`usr_${name}`}, 'learner', 'active', ${time}, 'manual', 1, ${time}, ${time})`,
    )
    for (const [item, score] of [
      ['essay', 40],
      ['exam', 80],
    ] as const) {
      await put(
        'grades (id, user_id, course_id, source, item_id, label, score_given, score_maximum, graded_at, version, created_at, updated_at)',
        (name) =>
          sql`(${`grd_${item}${name}`}, ${`usr_${name}`}, ${id}, 'manual', ${item}, ${item}, ${score}, 100, ${time}, 1, ${time}, ${time})`,
      )
    }
    await put(
      'course_grades (user_id, course_id, percent, updated_at)',
      (name) => sql`(${`usr_${name}`}, ${id}, 60, ${time})`,
    )
  })
  return (await admin.get(`/v1/courses/${id}`)).body
}

/** Counts learners by grade and status of the enrolment. */
async function standing(database: Database): Promise<unknown[]> {
  return database.all(sql`
    select g.percent, e.status, count(*) as learners from enrollments e
    join course_grades g on g.user_id = e.user_id and g.course_id = e.course_id group by 1, 2 order by 1`)
}

const weights = [
  { name: 'essay', weight: 1 },
  { name: 'exam', weight: 3 },
]

test('new weights reach every learner before the answer', { tags: ['slow'] }, async ({ academy, admin }) => {
  const { id } = await largeCourse(academy, admin)
  const answer = await admin.put(`/v1/courses/${id}`, { assessmentCriteria: { weights } })
  expect(answer.status).toBe(200)
  expect(await standing(academy.database)).toEqual([{ percent: 70, status: 'completed', learners }])
  const { data } = (await admin.get('/v1/audit?action=enrollment.completed&sort=at&limit=2')).body
  const last = (await admin.get('/v1/audit?action=enrollment.completed&limit=1')).body.data[0]
  for (const { userId, address } of [...data, last]) {
    expect({ userId, address }).toEqual({ userId: admin.id, address: '192.0.2.1' })
  }
})
