import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect } from 'vitest'
import { type TestCli, test } from '../../../helpers/cli.ts'
import { killAt } from '../../../helpers/kill-process.ts'
import { runLearnctl } from '../../../helpers/process.ts'
import { randomRuns } from '../../../helpers/random.ts'

const runs = randomRuns(1, 1)
const learners = 400

/** A school whose apply sends several requests for each part. */
function writeSchool({ cwd }: TestCli): void {
  mkdirSync(join(cwd, 'school'))
  const numbers = Array.from({ length: learners }, (_, index) => index)
  const table = (name: string, lines: readonly string[]) =>
    writeFileSync(join(cwd, 'school', `${name}.csv`), `${lines.join('\n')}\n`)
  table('users', [
    'externalId,email,status',
    ...numbers.map((n) => `${n},u${n}@b.example,${n % 9 === 0 ? 'suspended' : ''}`),
  ])
  table('enrollments', [
    'courseId,userId,enrolledAt,status',
    ...numbers.map((n) => `C${n % 3},ext:${n},2026-01-01,${n % 7 === 0 ? 'inactive' : 'active'}`),
  ])
  table('progress', [
    'courseId,learnerId,completionPercentage,lastAccessed',
    ...numbers.flatMap((n) =>
      [20, 60, 100].map((done, step) => `C${n % 3},ext:${n},${done},2026-01-0${step + 2}`),
    ),
  ])
  const courses = [0, 1, 2].map((n) => ({
    externalId: `C${n}`,
    title: `Course ${n}`,
    status: n === 2 ? 'archived' : 'published',
    lessons: [1, 2, 3, 4].map((lesson) => ({ title: `Lesson ${lesson}` })),
  }))
  const tables = Object.fromEntries(
    ['users', 'enrollments', 'progress'].map((name) => [name, { file: `${name}.csv` }]),
  )
  writeFileSync(join(cwd, 'school/academy.json'), JSON.stringify({ learnctl: 1, courses, ...tables }))
}

/** Returns the records of an academy, without the server-made ids of lessons. */
async function dumped(cli: TestCli, database: string): Promise<string> {
  const { stdout, code } = await cli.run(`dump --database ${database}`)
  expect(code).toBe(0)
  return stdout.replace(/externalId: les_\w+/g, '')
}

test('an apply that is killed at any moment and run again does the same as one that is not', async ({
  local,
}) => {
  writeSchool(local)
  const { cwd, home } = local
  const whole = await local.run('apply school --yes --database whole.db')
  expect(whole, whole.stderr).toMatchObject({ code: 0 })
  const expected = await dumped(local, 'whole.db')
  let number = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 1500 }), { minLength: 2, maxLength: 4 }),
      async (moments) => {
        number += 1
        const database = `killed-${number}.db`
        for (const moment of moments) {
          await runLearnctl(['apply', 'school', '--yes', '--database', database], {
            cwd,
            env: { HOME: home },
            watch: (child) => void killAt(child, join(cwd, database), moment),
          })
        }
        const last = await local.run(`apply school --yes --database ${database}`)
        expect(last.code, last.stderr).toBe(0)
        expect(await dumped(local, database)).toBe(expected)
        expect((await local.run(`diff school --database ${database}`)).code).toBe(0)
      },
    ),
    { numRuns: runs, endOnFailure: true },
  )
})
