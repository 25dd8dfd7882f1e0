import fc from 'fast-check'
import { expect } from 'vitest'
import { type TestCli, test, testCli, transportTo } from '../../helpers/cli.ts'
import { randomRuns } from '../../helpers/random.ts'
import { openTestAcademy, type Person } from '../../helpers/test-academy.ts'

const nouns = ['courses', 'lessons', 'users', 'enrollments', 'progress'] as const
const formats = ['csv', 'json', 'jsonl'] as const
/** Characters of many scripts that may break a file. */
const odd = [
  ...'aZ09 ,;"\'\n\r\t=+-@|[]{}\\/:#%&<>éßЖ中日本ענעربيไทย🙂＝－\u200d\u2028\ufeff\u0001\u001e\u001f\u007f\u0085\u00a0',
]
const unit = fc.oneof(
  fc.constantFrom(...odd),
  fc
    .integer({ min: 1, max: 0x10ffff })
    .map((point) => (point >> 11 === 27 ? '\ud83d\ude42' : String.fromCodePoint(point))),
)
const hostile = [
  ...[
    '=1+1',
    "'=1",
    "''=1",
    "'",
    '-5',
    '+49 1',
    '@x',
    "'@x",
    '\t=1',
    '\ufeffa',
    'null',
    'true',
    '1e3',
    '007',
  ],
  ...[
    '[1]',
    '{"a":1}',
    'a, b',
    ' padded ',
    '\r\n',
    '"',
    '""',
    'a"b',
    ',',
    ';',
    '\\',
    '#1',
    '2',
    `${'long,\n'.repeat(300)}`,
  ],
]
const any = fc.oneof(fc.constantFrom(...hostile), fc.string({ unit, maxLength: 12 }))
const short = any.map((text) => text.slice(0, 50).toWellFormed())
const filled = any
  .filter((text) => text.trim() !== '')
  .map((text) => text.trim().slice(0, 250).trim().toWellFormed())
const key = filled.map((text) => text.slice(0, 100).toWellFormed())
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null })
const instant = fc
  .date({ min: new Date('2020-01-01'), max: new Date('2026-02-28'), noInvalidDate: true })
  .map((date) => date.toISOString())
const list = fc.array(
  filled.map((text) => text.slice(0, 90).trim().toWellFormed()),
  { maxLength: 3 },
)
const percent = fc.oneof(
  fc.integer({ min: 0, max: 100 }),
  fc.double({ min: 0, max: 100, noNaN: true }).map((n) => n + 0),
)

const course = fc.record({
  externalId: maybe(key),
  title: filled,
  description: any,
  difficulty: fc.constantFrom('beginner', 'expert'),
  learningObjectives: list,
  modules: fc.array(
    fc.record({ title: fc.oneof(filled, fc.constantFrom('1', '2', '#2', 'Same')), description: any }),
    { maxLength: 4 },
  ),
  assessmentCriteria: fc.record({
    passingScore: percent,
    moveOn: fc.constantFrom('Completed', 'NotApplicable'),
    weights: fc.array(fc.record({ name: filled, weight: fc.integer({ min: 0, max: 20 }) }), { maxLength: 3 }),
  }),
  tags: list,
  language: maybe(fc.constantFrom('en', 'pt-BR')),
  durationMinutes: maybe(fc.nat(1000)),
  managedBy: maybe(key),
  status: fc.constantFrom('draft', 'published'),
})
const block = fc.record({
  type: fc.constant('markdown'),
  title: maybe(short),
  body: any,
  language: maybe(short),
})
const question = fc.record({
  type: fc.constant('short_answer'),
  prompt: filled,
  choices: fc.array(fc.record({ id: key, text: filled }), { maxLength: 2 }),
  answer: fc.oneof(any, fc.boolean(), fc.integer(), fc.array(any, { maxLength: 2 }), fc.constant(null)),
})
const lesson = fc.record({
  course: fc.nat(2),
  module: maybe(fc.nat(3)),
  externalId: maybe(key),
  title: filled,
  description: any,
  durationMinutes: maybe(fc.nat(1000)),
  status: fc.constantFrom('draft', 'published'),
  learningObjectives: list,
  contentBlocks: fc.array(block, { maxLength: 2 }),
  assessments: fc.array(
    fc.record({
      type: fc.constant('quiz'),
      title: filled,
      dueAt: maybe(instant),
      questions: fc.array(question, { maxLength: 2 }),
    }),
    { maxLength: 2 },
  ),
})
const user = fc.record({
  externalId: maybe(key),
  role: fc.constantFrom('learner', 'instructor'),
  status: fc.constantFrom('active', 'inactive'),
  profile: fc.record({
    firstName: maybe(filled),
    lastName: maybe(filled),
    bio: maybe(any),
    avatarUrl: maybe(fc.constant('https://a.example/?a=1,2')),
    learningPreferences: fc.record({
      languages: fc.constantFrom([], ['de'], ['en', 'fr']),
      deliverySpeed: maybe(fc.constantFrom(0.5, 1.25)),
      captions: maybe(fc.boolean()),
    }),
  }),
  managedBy: maybe(key),
})
const enrollment = fc.record({
  course: fc.nat(2),
  user: fc.nat(5),
  role: fc.constantFrom('learner', 'learner', 'instructor'),
  status: fc.constantFrom('active', 'active', 'inactive', 'completed'),
  enrolledAt: instant,
  managedBy: maybe(key),
  percentages: fc.array(percent, { maxLength: 3 }),
})
const externalIds = (item: { externalId: string | null }) => item.externalId ?? item
const school = fc.record({
  courses: fc.uniqueArray(course, { minLength: 3, maxLength: 3, selector: externalIds }),
  lessons: fc.uniqueArray(lesson, { maxLength: 4, selector: externalIds }),
  users: fc.uniqueArray(user, { minLength: 6, maxLength: 6, selector: externalIds }),
  enrollments: fc.uniqueArray(enrollment, {
    maxLength: 8,
    selector: ({ course, user }) => `${course} ${user}`,
  }),
})
type School = typeof school extends fc.Arbitrary<infer Value> ? Value : never

/** Creates a school in an academy by its API, without the records that the API refuses. */
async function fill(admin: Person, { courses, lessons, users, enrollments }: School): Promise<void> {
  const made = []
  for (const each of courses) {
    const { status, body } = await admin.post('/v1/courses', each)
    expect(status, JSON.stringify(body)).toBe(201)
    made.push(body)
  }
  for (const { course, module, ...each } of lessons) {
    const moduleId = module === null ? null : (made[course].modules[module]?.id ?? null)
    const { status, body } = await admin.post('/v1/lessons', { ...each, courseId: made[course].id, moduleId })
    expect(status, JSON.stringify(body)).toBe(201)
  }
  const ids: string[] = []
  for (const [n, each] of users.entries()) {
    const { status, body } = await admin.post('/v1/users', {
      ...each,
      status: 'active',
      email: `u'${n}+x@school.example`,
    })
    expect(status, JSON.stringify(body)).toBe(201)
    ids.push(body.id)
  }
  for (const { course, user, percentages, ...each } of enrollments) {
    const [courseId, userId] = [made[course].id, ids[user]]
    const { body } = await admin.post('/v1/enrollments', { ...each, courseId, userId, status: 'active' })
    if (each.role !== 'learner') continue
    for (const [n, completionPercentage] of percentages.entries()) {
      const lastAccessed = `2026-02-0${n + 1}T09:00:00Z`
      await admin.put(`/v1/learners/${userId}/progress`, { courseId, completionPercentage, lastAccessed })
    }
    // An enrolment that accepts no progress keeps the one it has; another academy would refuse that.
    if (percentages.length === 0) await admin.put(`/v1/enrollments/${body.id}`, { status: each.status })
  }
}

async function exported(cli: TestCli, noun: string, format: string, env = {}): Promise<string> {
  const ran = await cli.run(`${noun} export -o ${format}`, { env })
  expect(ran.code, ran.stderr).toBe(0)
  return ran.stdout
}

test('export, import elsewhere and export give one file', { tags: ['slow'] }, async () => {
  let academies = 0
  let ms = Date.parse('2026-03-01T12:00:00.000Z')
  const now = () => {
    ms += 1
    return ms
  }
  await fc.assert(
    fc.asyncProperty(school, fc.constantFrom(...formats), async (given, format) => {
      const academy = await openTestAcademy()
      const admin = await academy.person('admin')
      const cli = testCli({ transport: transportTo(academy), now })
      const there = { LEARNCTL_URL: 'https://school.example', LEARNCTL_API_KEY: admin.key }
      academies += 1
      const here = { LEARNCTL_DATABASE: `${academies}.db` }
      try {
        await fill(admin, given)
        for (const noun of nouns) {
          const stdin = await exported(cli, noun, format, there)
          const ran = await cli.run(`${noun} import - --format ${format}`, { stdin, env: here })
          expect(ran.code, ran.stderr).toBe(0)
        }
        for (const noun of nouns) {
          expect(await exported(cli, noun, format, here), noun).toBe(await exported(cli, noun, format, there))
        }
        // The other formats show no further loss.
        if (format !== 'csv') return
        for (const noun of nouns) {
          const [one, other] = [
            await exported(cli, noun, 'json', here),
            await exported(cli, noun, 'json', there),
          ]
          expect(emptied(JSON.parse(one)), noun).toEqual(emptied(JSON.parse(other)))
        }
      } finally {
        cli.remove()
        await academy.close()
      }
    }),
    { numRuns: randomRuns(1, 10), endOnFailure: true },
  )
})

/** Replaces empty texts by null: an empty cell means both. */
function emptied(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (_, each) => (each === '' ? null : each)))
}
