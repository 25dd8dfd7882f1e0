import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect } from 'vitest'
import { jsonText } from '../../../../src/codec/json-text.ts'
import { isStorableText } from '../../../../src/codec/unicode-text.ts'
import { test } from '../../../helpers/cli.ts'
import { anyText, randomRuns } from '../../../helpers/random.ts'

const runs = randomRuns(1, 10)

/** Texts of any Unicode characters, and of characters with a meaning in files. */
const text = fc.oneof(
  anyText.filter(isStorableText),
  fc.constantFrom(`\${HOME}`, `$\${HOME}`, 'yes', '- a', '# b', '=1+1', ' x ', '2026-01-01'),
)
const title = text.map((value) => value.trim().slice(0, 100)).filter((value) => value.trim() !== '')
const name = fc.oneof(title, fc.constantFrom('ext:a', 'email:b', '1', 'null'))
const day = fc
  .integer({ min: 1, max: 28 })
  .map((number) => `2026-01-${String(number).padStart(2, '0')}T08:00:00.000Z`)
const some = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined })

const user = fc.record({
  externalId: some(name),
  status: some(fc.constantFrom('active', 'suspended')),
  role: some(fc.constantFrom('learner', 'student', 'instructor', 'analyst')),
  profile: some(fc.record({ firstName: some(title), bio: some(text) })),
})
const lesson = fc.record({
  externalId: some(name),
  title,
  contentBlocks: some(fc.array(fc.record({ type: fc.constant('markdown'), body: text }), { maxLength: 2 })),
  assessments: some(
    fc.array(
      fc.record({
        type: fc.constantFrom('quiz', 'exam'),
        title,
        questions: fc.array(fc.record({ type: fc.constant('essay'), prompt: title }), { maxLength: 2 }),
      }),
      { maxLength: 2 },
    ),
  ),
})
const lessons = fc.array(lesson, { maxLength: 3 })
const course = fc.record({
  externalId: name,
  title,
  status: some(fc.constantFrom('draft', 'published', 'archived')),
  description: some(text),
  modules: fc.array(fc.record({ title, lessons }), { maxLength: 2 }),
  lessons,
})
const academy = fc.record({
  users: fc.uniqueArray(user, { maxLength: 4, selector: ({ externalId }) => externalId ?? {} }),
  courses: fc.uniqueArray(course, { maxLength: 3, selector: ({ externalId }) => externalId }),
  places: fc.uniqueArray(
    fc.record({
      user: fc.nat(3),
      course: fc.nat(2),
      status: some(fc.constantFrom('active', 'inactive', 'completed')),
      grades: fc.uniqueArray(
        fc.record({
          itemId: some(name),
          source: some(fc.constantFrom('manual', 'canvas')),
          label: some(title),
          scoreGiven: fc.option(fc.constantFrom(0, 7.5, 100)),
          scoreMaximum: some(fc.constantFrom(10, 100)),
          weight: some(fc.constantFrom(0, 50)),
          gradedAt: some(day),
          published: some(fc.boolean()),
        }),
        { maxLength: 3, selector: ({ itemId, source }) => `${itemId ?? ''} ${source ?? 'manual'}` },
      ),
      steps: fc.array(
        fc.record({ completionPercentage: fc.constantFrom(0, 20, 33.3, 100), lastAccessed: day }),
        { maxLength: 3 },
      ),
    }),
    { maxLength: 5, selector: ({ user, course }) => `${user} ${course}` },
  ),
})

/** Documents of academies in which all keys are distinct. */
function documentOf({
  users,
  courses,
  places,
}: typeof academy extends fc.Arbitrary<infer Value> ? Value : never) {
  const known = users.map((each, index) => ({ email: `user-${index}@b.example`, ...each }))
  const taken = new Set<string>()
  const once = <Lesson extends { externalId: string | undefined; title: string }>(
    all: readonly Lesson[],
    course: string,
  ) =>
    all.filter((each) => {
      const key = each.externalId ?? `${course}\n${each.title}`
      return taken.has(key) ? false : taken.add(key)
    })
  const placed = places.flatMap(({ user, course, ...place }) => {
    const [who, where] = [known[user], courses[course]]
    return who && where ? [{ who: `email:${who.email}`, where: `ext:${where.externalId}`, ...place }] : []
  })
  return {
    learnctl: 1,
    users: known,
    courses: courses.map((each) => ({
      ...each,
      modules: each.modules.map((module) => ({ ...module, lessons: once(module.lessons, each.externalId) })),
      lessons: once(each.lessons, each.externalId),
    })),
    enrollments: placed.map(({ who, where, status }) => ({ courseId: where, userId: who, status })),
    grades: placed.flatMap(({ who, where, grades }) =>
      grades.map((grade) => ({ learnerId: who, courseId: where, ...grade })),
    ),
    progress: placed.flatMap(({ who, where, steps }) =>
      steps.map((step) => ({ learnerId: who, courseId: where, ...step })),
    ),
  }
}

describe('any academy', () => {
  test('is applied, then nothing differs; its dump makes an equal one', { tags: ['slow'] }, async ({
    local,
  }) => {
    let number = 0
    await fc.assert(
      fc.asyncProperty(academy, async (value) => {
        number += 1
        const escaped = jsonText(documentOf(value)).replace(/\$+\{\w+\}/g, (variable) => `$${variable}`)
        writeFileSync(join(local.cwd, 'academy.json'), escaped)
        const [one, other] = [`--database one-${number}.db`, `--database other-${number}.db`]
        const applied = await local.run(`apply academy.json --yes ${one}`)
        expect(applied.code, applied.stderr).toBe(0)
        const compared = await local.run(`diff academy.json ${one}`)
        expect(compared.code, compared.stdout + compared.stderr).toBe(0)

        expect((await local.run(`dump --file dump.yaml --force ${one}`)).code).toBe(0)
        const again = await local.run(`apply dump.yaml --yes ${other}`)
        expect(again.code, again.stderr).toBe(0)
        const [first, second] = [await local.run(`dump ${one}`), await local.run(`dump ${other}`)]
        expect(second.stdout).toBe(first.stdout)
      }),
      { numRuns: runs, endOnFailure: true },
    )
  })
})
