import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect } from 'vitest'
import type { Change } from '../../../src/contract/changes.ts'
import { type TestCli, test } from '../../helpers/cli.ts'
import { killAt } from '../../helpers/kill-process.ts'
import { runLearnctl } from '../../helpers/process.ts'
import { randomRuns } from '../../helpers/random.ts'
import { ran } from '../../helpers/result.ts'

const numbers = Array.from({ length: 40 }, (_, number) => number)

/** A school whose archived courses change, and the places of their lessons; ten users leave after the first year. */
function schoolOf(year: 1 | 2): object {
  const users = numbers.slice(year === 1 ? 0 : 10)
  return {
    learnctl: 1,
    terms: [{ externalId: `T${year}`, name: `Year ${year}` }],
    users: users.map((n) => ({
      ...{ externalId: `U${n}`, email: `u${n}@b.example` },
      profile: { firstName: `First ${year}` },
    })),
    courses: ['A', 'B', 'C'].map((externalId) => ({
      ...{
        externalId,
        title: `Course ${externalId}${year}`,
        status: externalId === 'C' ? 'draft' : 'archived',
      },
      term: `T${year}`,
      modules: [
        {
          title: `Module ${year}`,
          lessons: numbers
            .slice(year, 10)
            .toSorted((one, other) => ((one * 7) % 5) * year - ((other * 7) % 5) * year)
            .map((n) => ({ externalId: `${externalId}${n}`, title: `Lesson ${n}` })),
        },
      ],
    })),
    enrollments: users.map((n) => ({ courseId: n % 2 === year - 1 ? 'A' : 'B', userId: `U${n}` })),
  }
}

async function dumped(cli: TestCli, database: string): Promise<string> {
  const { stdout } = await ran(cli, `dump --database ${database}`)
  return stdout.replace(/enrolledAt: .*/g, '')
}

test('an undo that is killed, and run again, returns to the state before', async ({ local }) => {
  const { cwd, home } = local
  for (const year of [1, 2] as const) {
    writeFileSync(join(cwd, 'school.json'), JSON.stringify(schoolOf(year)))
    await ran(local, 'apply school.json --yes --prune --label ci --database whole.db')
    if (year === 1) cpSync(join(cwd, 'whole.db'), join(cwd, 'before.db'))
  }
  const before = await dumped(local, 'before.db')
  const { stdout } = await local.run('undo list --database whole.db -o json')
  const isSecond = ({ counts }: Change) => counts.some(({ action }) => action === 'term.deleted')
  const change = (JSON.parse(stdout) as Change[]).find(isSecond)
  let number = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 120 }), { minLength: 1, maxLength: 4 }),
      async (moments) => {
        number += 1
        const database = `killed-${number}.db`
        cpSync(join(cwd, 'whole.db'), join(cwd, database))
        const line = `undo ${change?.id} --yes --database ${database}`
        for (const moment of moments) {
          await runLearnctl(line.split(' '), {
            cwd,
            env: { HOME: home },
            watch: (child) => void killAt(child, join(cwd, database), moment),
          })
        }
        await ran(local, line)
        expect(await dumped(local, database)).toBe(before)
      },
    ),
    { numRuns: randomRuns(2, 10), endOnFailure: true },
  )
}, 240_000)
