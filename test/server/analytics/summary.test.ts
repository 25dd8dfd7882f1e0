import { expect } from 'vitest'
import { analytics, type LearnerPage, type Summary } from '../../../src/contract/analytics.ts'
import type { LearnerRow } from '../../../src/contract/learner-row.ts'
import { readFilteredPage } from '../../../src/server/analytics/learner-pages.ts'
import { periodOf, rowFilterOf } from '../../../src/server/analytics/row-filter.ts'
import { day, start, test } from '../../helpers/academy.ts'

const path = '/v1/analytics/learners'
/** A caller who sees everything. */
const principal = { userId: null, sees: 'all' } as const
const time = (daysAgo: number) => new Date(Date.parse(start) - daysAgo * day).toISOString()

/** Makes six learners in three courses of two levels: one is deleted, some are graded, some never started. */
const school = test.extend('school', async ({ academy, admin }) => {
  const make = async (kind: string, body: object) => (await admin.post(`/v1/${kind}`, body)).body.id as string
  const courses = await Promise.all(
    ['beginner', 'expert', 'expert'].map((difficulty, index) =>
      make('courses', { title: `Course ${3 - index}`, difficulty, externalId: `c${index}` }),
    ),
  )
  const learners = await Promise.all(
    [0, 1, 2, 3, 4, 5].map((index) =>
      make('users', { email: `l${index}@b.example`, externalId: `l${index}` }),
    ),
  )
  const percentages = [0, 12.345, 33.333333, 33.333333, 99.99, 100, 7]
  let turn = 0
  for (const [place, learnerId] of learners.entries()) {
    for (const [index, courseId] of courses.slice(0, 1 + (place % 3)).entries()) {
      if ((place + index) % 4 === 3) await make('enrollments', { courseId, userId: learnerId })
      else {
        const completionPercentage = percentages[turn % percentages.length]
        const body = { courseId, completionPercentage, lastAccessed: time(turn) }
        await admin.put(`/v1/learners/${learnerId}/progress`, body)
      }
      if (turn % 2 === 0) await academy.grade({ learnerId, courseId, scoreGiven: 10 * turn + 0.25 })
      turn += 1
    }
  }
  for (const [group, members] of [
    ['g1', [1, 2, 4]],
    ['g2', [2, 5]],
  ] as const) {
    await make('groups', { name: group, externalId: group })
    for (const index of members) await admin.put(`/v1/groups/ext:${group}/members/${learners[index]}`)
  }
  await admin.delete(`/v1/users/${learners[5]}`)
  return { courses, learners }
})

const filters = [
  '',
  'course_id=ext:c0',
  'course_id=ext:c1,ext:c2',
  'difficulty=expert',
  'difficulty=expert&course_id=ext:c0',
]
  .flatMap((courses) =>
    ['', 'status=not_started', 'status=completed,in_progress'].map((status) => [courses, status]),
  )
  .flatMap((parts) => ['', 'include_deleted=true'].map((deleted) => [...parts, deleted]))
  .flatMap((parts) =>
    [
      '',
      'learner_id=ext:l1,ext:l2',
      'group_id=ext:g1',
      `group_id=ext:g1,ext:g2&start_date=${time(6)}`,
      `start_date=${time(6)}`,
      `end_date=${time(2)}&include_not_started=true`,
    ].map((rest) => [...parts, rest].filter(Boolean).join('&')),
  )

school(
  'whatever is filtered, the summary says what counting all its rows says',
  { tags: ['slow'] },
  async ({ admin, school }) => {
    expect(school.learners).toHaveLength(6)
    let told = 0
    for (const filter of filters) {
      const rows = (await admin.get(`${path}?limit=100&${filter}`)).body
      expect(rows.summary, filter).toEqual(plainSummary(rows.data))
      told += rows.data.length
    }
    expect(told).toBeGreaterThan(200)
  },
)

school(
  'pages are full and hold each row once and in order',
  { tags: ['slow'] },
  async ({ academy: { database }, school }) => {
    expect(school.learners).toHaveLength(6)
    let pages = 0
    for (const filter of filters) {
      const query = analytics.learners.query.parse(Object.fromEntries(new URLSearchParams(filter)))
      const rows = await rowFilterOf(
        { database, query, principal },
        periodOf(query.start_date, query.end_date),
      )
      const all = (await readFilteredPage(database, { limit: 100, include_total: true }, rows)).data
      const walked: LearnerPage['data'] = []
      for (let cursor: string | undefined, isFirst = true; isFirst || cursor; isFirst = false) {
        const page = await readFilteredPage(database, { limit: 2, cursor, include_total: true }, rows)
        walked.push(...page.data)
        cursor = page.nextCursor ?? undefined
        expect(page, filter).toMatchObject({ total: all.length, totalIsExact: true })
        if (cursor) expect(page.data, filter).toHaveLength(2)
        pages += 1
      }
      expect(walked, filter).toEqual(all)
      expect(walked.map(({ email, courseTitle }) => `${email} ${courseTitle}`)).toEqual(
        walked.map(({ email, courseTitle }) => `${email} ${courseTitle}`).sort(),
      )
    }
    expect(pages).toBeGreaterThan(150)
  },
)

/** Returns the summary of these rows by plain arithmetic. */
function plainSummary(rows: readonly LearnerRow[]): Summary {
  const sorted = rows
    .map(({ completionPercentage }) => completionPercentage)
    .sort((one, other) => one - other)
  const [low = 0, high = 0] = [
    sorted[Math.floor((sorted.length - 1) / 2)],
    sorted[Math.floor(sorted.length / 2)],
  ]
  const grades = rows
    .flatMap(({ gradePercent }) => (gradePercent === null ? [] : [gradePercent]))
    .sort((one, other) => one - other)
  const [lower = 0, upper = 0] = [
    grades[Math.floor((grades.length - 1) / 2)],
    grades[Math.floor(grades.length / 2)],
  ]
  const within = (values: readonly number[], from: number, to: number | null) =>
    values.filter((one) => (to === null ? one > from : one >= from && (to === 100 ? one <= 100 : one < to)))
      .length
  const tens = Array.from({ length: 10 }, (_, tenth) => ({ from: 10 * tenth, to: 10 * tenth + 10 }))
  const titles = new Map(rows.map(({ courseId, courseTitle }) => [courseId, courseTitle]))
  return {
    learners: new Set(rows.map(({ learnerId }) => learnerId)).size,
    ...figuresOf(rows),
    medianCompletionPercentage: rows.length === 0 ? null : rounded((low + high) / 2),
    distribution: Array.from(
      { length: 10 },
      (_, tenth) => sorted.filter((one) => Math.min(9, Math.floor(one / 10)) === tenth).length,
    ),
    medianGradePercent: grades.length === 0 ? null : rounded((lower + upper) / 2),
    completionDistribution: tens.map(({ from, to }) => ({ from, to, count: within(sorted, from, to) })),
    gradeDistribution: [...tens, { from: 100, to: null }].map(({ from, to }) => ({
      ...{ from, to },
      count: within(grades, from, to),
    })),
    byCourse: [...titles]
      .sort(([, one], [, other]) => (one < other ? -1 : 1))
      .map(([courseId, courseTitle]) => ({
        courseId,
        courseTitle,
        ...figuresOf(rows.filter((row) => row.courseId === courseId)),
      })),
  }
}

function figuresOf(rows: readonly LearnerRow[]) {
  const counted = (status: string) => rows.filter(({ progressStatus }) => progressStatus === status).length
  const grades = rows.flatMap(({ gradePercent }) => (gradePercent === null ? [] : [gradePercent]))
  const completed = counted('completed')
  const verdicts = rows.filter(({ passed }) => passed)
  return {
    enrollments: rows.length,
    notStarted: counted('not_started'),
    inProgress: counted('in_progress'),
    completed,
    completionRate: rows.length === 0 ? null : rounded(completed / rows.length),
    averageCompletionPercentage: mean(rows.map(({ completionPercentage }) => completionPercentage)),
    averageGradePercent: mean(grades),
    completionPercentage: rows.length === 0 ? null : rounded((100 * completed) / rows.length),
    graded: grades.length,
    passed: verdicts.length,
    passRate: grades.length === 0 ? null : rounded((100 * verdicts.length) / grades.length),
  }
}

function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : rounded(values.reduce((sum, value) => sum + value, 0) / values.length)
}

function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000
}
