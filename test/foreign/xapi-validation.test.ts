import { createRequire } from 'node:module'
import { expect } from 'vitest'
import type { Statement } from '../../src/contract/statements.ts'
import { StatementMaker } from '../../src/lms/xapi.ts'
import { type Person, type TestAcademy, test } from '../helpers/academy.ts'
import { readPages } from '../helpers/pages.ts'

// The validator of Learning Locker (LearningLocker/xapi-validation@13ffff7) judges statements of 1.0.3.

/** Makes learners with progress, scores, extra credit and odd names, in courses with and without a language. */
async function fill(academy: TestAcademy, admin: Person): Promise<void> {
  for (const [index, language] of [null, 'pt-BR', 'zh-Hant', 'sr-Latn-RS'].entries()) {
    const course = { title: `Logic “${index}” <b>`, language, status: 'published' }
    const courseId = (await admin.post('/v1/courses', course)).body.id
    for (const local of ['ada', "o'brien+x", 'a/b?c=d', 'ünïcode', 'x!#$&*{}|~']) {
      const user = { email: `${local}.${index}@school.example`, externalId: `Ⅷ ${local}/${index}` }
      const learnerId = (await admin.post('/v1/users', user)).body.id
      for (const completionPercentage of [0, 33.34, 100]) {
        await admin.put(`/v1/learners/${learnerId}/progress`, { courseId, completionPercentage })
      }
      const scores = [
        [0, 10],
        [3.333, 7],
        [25, 20],
        [1e-9, 1_000_000],
      ] as const
      for (const [each, [scoreGiven, scoreMaximum]] of scores.entries()) {
        const item = { itemId: `quiz #${each} / ä`, scoreGiven, scoreMaximum }
        await academy.grade({ learnerId, courseId, ...item })
      }
    }
  }
}

test('every statement of 1.0.3 is valid, however learners are named', async ({ academy, admin }) => {
  await fill(academy, admin)
  for (const actor of ['id', 'external-id', 'email']) {
    const query = `actor=${actor}&home_page=https://academy.example.org`
    const statements = await readPages<Statement>(admin, `/v1/analytics/statements?${query}`)
    // Four courses, five learners: three of progress, a completion, four scores, and passed or failed.
    expect(statements).toHaveLength(4 * 5 * 9)
    for (const statement of statements) expect(warningsOf(statement), JSON.stringify(statement)).toEqual([])
  }
})

test('the statement that tests a connection is valid', () => {
  const maker = new StatementMaker({ version: '1.0.3', homePage: 'https://academy.example', actor: 'id' })
  expect(warningsOf(maker.test('whe_1', '2026-01-05T10:00:00.000Z'))).toEqual([])
})

test('the validator finds what is wrong', () => {
  const maker = new StatementMaker({ version: '1.0.3', homePage: 'https://academy.example', actor: 'id' })
  const right = maker.test('whe_1', '2026-01-05T10:00:00.000Z')
  for (const wrong of [
    { ...right, id: '1' },
    { ...right, timestamp: 'yesterday' },
    { ...right, actor: { objectType: 'Agent', mbox: 'ada' } },
    { ...right, result: { score: { scaled: 1.1 } } },
  ]) {
    expect(warningsOf(wrong)).not.toEqual([])
  }
})

// A CommonJS module with a default export.
const validate: (statement: unknown) => readonly unknown[] = createRequire(import.meta.url)(
  '@learninglocker/xapi-validation',
).default

/** Returns all problems. */
function warningsOf(statement: unknown): readonly string[] {
  return validate(statement).map((warning) => JSON.stringify(warning))
}
