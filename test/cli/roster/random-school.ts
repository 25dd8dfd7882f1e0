import fc from 'fast-check'
import { expect } from 'vitest'
import { isStorableText } from '../../../src/codec/unicode-text.ts'
import type { TestCli } from '../../helpers/cli.ts'
import { anyText } from '../../helpers/random.ts'

/** Texts that break readers of CSV, and texts of any characters. */
const text = fc.oneof(
  anyText.filter(isStorableText),
  fc.constantFrom(
    "O'Neil",
    '"quoted"',
    'a,b;c\td|e',
    'two\nlines',
    'two\r\nlines',
    'cr\rinside',
    '=1+1',
    "'=1",
  ),
  fc.constantFrom(
    '@x',
    '-5',
    '007',
    'Zoë',
    '祖母',
    '👩🏽‍🏫',
    'שָׁלוֹם',
    'null',
    '# x',
    '\\n',
    'a  b',
    'ext:a',
    'no-term',
  ),
)
const title = text.map((value) => value.trim().slice(0, 100).trim()).filter((value) => value !== '')
/** Ids of a school, also with characters that derived ids and lists have. */
const id = fc.oneof(
  fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9 :,%"'=.-]{0,8}[A-Za-z0-9]$/),
  fc.constantFrom('1', 'a:b', 'a%3Ab', 'ä', '$course', 'email:x', 'no-category'),
)
const day = fc.integer({ min: 1, max: 28 }).map((number) => `2026-01-${String(number).padStart(2, '0')}`)
const some = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined })

const person = fc.record({
  externalId: some(id),
  username: some(fc.stringMatching(/^[A-Za-z0-9._@-]{3,12}$/)),
  role: fc.constantFrom('learner', 'learner', 'instructor', 'analyst', 'admin'),
  status: fc.constantFrom('active', 'active', 'suspended'),
  firstName: some(title),
  lastName: some(title),
  displayName: some(
    fc.oneof(
      title,
      fc.tuple(title, title).map((both) => both.join(' ')),
    ),
  ),
})
const term = fc.record({ externalId: some(id), name: title, startDate: some(day), days: some(fc.nat(200)) })
const course = fc.record({
  externalId: some(id),
  title,
  status: fc.constantFrom('draft', 'published', 'archived'),
  description: some(text),
  term: fc.nat(3),
  weights: fc.uniqueArray(fc.record({ name: title, weight: fc.constantFrom(0, 12.5, 30) }), {
    maxLength: 3,
    selector: ({ name }) => name,
  }),
})
const group = fc.record({
  externalId: some(id),
  name: title,
  course: fc.nat(4),
  members: fc.uniqueArray(fc.nat(6), { maxLength: 4 }),
})
const place = fc.record({
  user: fc.nat(5),
  course: fc.nat(3),
  role: fc.constantFrom('learner', 'learner', 'instructor'),
  status: fc.constantFrom('active', 'active', 'inactive', 'completed'),
  enrolledAt: day.map((value) => `${value}T00:00:00.000Z`),
  grades: fc.uniqueArray(
    fc.record({
      itemId: fc.oneof(id, fc.constantFrom('exam', '$course')),
      source: fc.constantFrom('manual', 'manual', 'canvas'),
      label: some(title),
      scoreGiven: fc.option(fc.constantFrom(0, 7.5, 33.33, 100)),
      scoreMaximum: fc.constantFrom(100, 100, 10, 7),
      weight: some(fc.constantFrom(0, 10, 33.3)),
      gradedAt: day.map((value) => `${value}T10:00:00.000Z`),
      published: fc.constantFrom(true, true, true, false),
    }),
    { maxLength: 3, selector: ({ itemId, source }) => `${itemId} ${source}` },
  ),
})

/** Any school: people of all roles with odd names, terms, courses, groups, enrolments and grades. */
export const anySchool = fc.record({
  people: fc.uniqueArray(person, { maxLength: 6, selector: ({ externalId }) => externalId ?? {} }),
  terms: fc.uniqueArray(term, { maxLength: 3, selector: ({ externalId }) => externalId ?? {} }),
  courses: fc.uniqueArray(course, { maxLength: 4, selector: ({ externalId }) => externalId ?? {} }),
  groups: fc.uniqueArray(group, { maxLength: 4, selector: ({ externalId }) => externalId ?? {} }),
  places: fc.uniqueArray(place, {
    maxLength: 8,
    selector: ({ user, course, role }) => `${user} ${course} ${role}`,
  }),
})
type School = typeof anySchool extends fc.Arbitrary<infer Value> ? Value : never

/** Makes a school in the academy of a database, through the API. */
export async function makeSchool(cli: TestCli, database: string, school: School): Promise<void> {
  async function send(method: string, path: string, body: unknown): Promise<Record<string, unknown>> {
    const words = ['api', method, path, '--body', '-', '--database', database]
    const ran = await cli.run(words, { stdin: JSON.stringify(body) })
    // A batch may refuse some users with a name that another has.
    const codes = /users|groups/.test(path) ? [0, 8] : [0]
    expect(codes, `${method} ${path} ${JSON.stringify(body)} ${ran.stderr}`).toContain(ran.code)
    return JSON.parse(ran.stdout)
  }
  /** Sends a batch; returns the ids, of which records that were refused have none. */
  async function batch(path: string, items: readonly unknown[]): Promise<(string | undefined)[]> {
    if (items.length === 0) return []
    const { results } = await send('POST', path, { items, onExists: 'update' })
    return (results as { id?: string }[]).map(({ id }) => id)
  }

  const people = school.people.map(({ firstName, lastName, displayName, ...more }, index) => ({
    ...more,
    email: `${index % 2 === 0 ? 'Person' : 'person'}-${index}@b.example`,
    profile: { firstName, lastName, displayName },
  }))
  const users = await batch('/v1/users/batch', people)
  const terms = await batch(
    '/v1/terms/batch',
    school.terms.map(({ days, ...each }) => {
      const last = each.startDate ?? '2026-01-01'
      const endDate = days === undefined ? undefined : dayAfter(last, days)
      return { ...each, endDate }
    }),
  )
  const courses: (string | undefined)[] = []
  for (const { term: index, weights, status, ...each } of school.courses) {
    const made = await send('POST', '/v1/courses', {
      ...each,
      ...(terms[index] && { termId: terms[index] }),
      assessmentCriteria: { weights, moveOn: 'NotApplicable' },
    })
    courses.push(String(made['id']))
  }
  const placed = school.places.flatMap(({ user, course, grades, ...each }) => {
    const [userId, courseId] = [users[user], courses[course]]
    return userId && courseId ? [{ each: { ...each, userId, courseId }, grades }] : []
  })
  await batch(
    '/v1/enrollments/batch',
    placed.map(({ each }) => each),
  )
  await batch(
    '/v1/grades/batch',
    placed.flatMap(({ each: { userId, courseId, role, status }, grades }) =>
      role === 'learner' && status !== 'inactive'
        ? grades.map((grade) => ({ ...grade, learnerId: userId, courseId }))
        : [],
    ),
  )
  const groups = await batch(
    '/v1/groups/batch',
    school.groups.map(({ course, members: _, ...each }) => ({
      ...each,
      ...(courses[course] && { courseId: courses[course] }),
    })),
  )
  await batch(
    '/v1/memberships/batch',
    school.groups.flatMap(({ members }, index) =>
      members.flatMap((member) => {
        const [groupId, userId] = [groups[index], users[member]]
        return groupId && userId ? [{ groupId, userId }] : []
      }),
    ),
  )
  for (const [index, { status }] of school.courses.entries()) {
    if (status === 'draft') continue
    await send('PUT', `/v1/courses/${courses[index]}`, { status })
  }
}

function dayAfter(day: string, days: number): string {
  return new Date(Date.parse(day) + days * 86_400_000).toISOString().slice(0, 10)
}
