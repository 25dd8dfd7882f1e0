import { join } from 'node:path'
import fc from 'fast-check'
import { expect } from 'vitest'
import { type TestCli, test } from '../../helpers/cli.ts'
import { killAt } from '../../helpers/kill-process.ts'
import { runLearnctl } from '../../helpers/process.ts'
import { randomRuns } from '../../helpers/random.ts'
import { ran } from '../../helpers/result.ts'
import { oneRoster, put, type School } from './write-rosters.ts'

const runs = randomRuns(1, 1)
const numbers = Array.from({ length: 700 }, (_, number) => number)

/** A school whose apply sends several requests for each part; the first hundred people leave after the first year. */
const schoolOf = (year: 1 | 2): School => {
  const users = numbers
    .slice(year === 1 ? 0 : 100)
    .map((n) => ({ id: `u${n}`, first: `First ${n % (40 * year)}` }))
  const courses = [1, 2, 3, 4].map((n) => ({ id: `c${n}`, title: `Course ${n}`, term: 't1' }))
  const enrollments = users.flatMap(({ id }, index) =>
    [0, 1].map((more) => ({ course: `c${((index + more) % (5 - year)) + 1}`, user: id })),
  )
  return { users, courses: courses.slice(0, 5 - year), enrollments }
}

async function dumped(cli: TestCli, database: string): Promise<string> {
  const { stdout } = await ran(cli, `dump --database ${database}`)
  // The moment of the enrolment, which the roster does not say.
  return stdout.replace(/enrolledAt: .*/g, '')
}

test('a roster whose apply is killed at any moment and run again is applied once', async ({ local }) => {
  put(local, 'first', oneRoster(schoolOf(1)))
  put(local, 'second', oneRoster(schoolOf(2)))
  const { cwd, home } = local
  const line = (school: string, database: string) =>
    `roster apply ${school} --yes --prune --label roster:school --database ${database}`
  for (const school of ['first', 'second']) {
    await ran(local, line(school, 'whole.db'))
  }
  const expected = await dumped(local, 'whole.db')
  let number = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 1400 }), { minLength: 2, maxLength: 3 }),
      async (moments) => {
        number += 1
        const database = `killed-${number}.db`
        for (const school of ['first', 'second']) {
          for (const moment of moments) {
            await runLearnctl(line(school, database).split(' '), {
              cwd,
              env: { HOME: home },
              watch: (child) => void killAt(child, join(cwd, database), moment),
            })
          }
          await ran(local, line(school, database))
        }
        expect(await dumped(local, database)).toBe(expected)
        expect(
          (await local.run(`roster diff second --prune --label roster:school --database ${database}`)).code,
        ).toBe(0)
      },
    ),
    { numRuns: runs, endOnFailure: true },
  )
}, 240_000)
