import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, onTestFinished } from 'vitest'
import type { Transport } from '../../../../src/contract/http.ts'
import { openTestAcademy } from '../../../helpers/academy.ts'
import { type TestCli, test, testCli, transportTo } from '../../../helpers/cli.ts'
import { randomRuns } from '../../../helpers/random.ts'
import { anyTrouble, troubledTransport } from '../../troubled.ts'

const numRuns = randomRuns(1, 5)

const school = (word: string) =>
  JSON.stringify({
    learnctl: 1,
    users: [1, 2, 3].map((n) => ({
      externalId: `${n}`,
      email: `u${n}@b.example`,
      profile: { firstName: word },
      status: n === 3 ? 'suspended' : 'active',
    })),
    courses: ['A', 'B', 'C'].map((externalId) => ({
      externalId,
      title: `${word} ${externalId}`,
      status: externalId === 'C' ? 'archived' : 'published',
      modules: [{ title: 'First', lessons: [{ title: 'One' }, { title: `${word} two` }] }],
      lessons: [{ externalId: `${externalId}-end`, title: `${word} end` }],
    })),
    enrollments: [1, 2, 3].map((n) => ({
      courseId: 'ABC'[n - 1],
      userId: `${n}`,
      enrolledAt: '2026-01-01T00:00:00Z',
      status: n === 2 ? 'inactive' : 'active',
    })),
    grades: [1, 2, 3].map((n) => ({
      courseId: 'ABC'[n - 1],
      learnerId: `${n}`,
      scoreGiven: word.length + n,
      label: word,
    })),
    progress: [1, 2, 3].flatMap((n) =>
      [10, 60].map((completionPercentage) => ({
        courseId: 'ABC'[n - 1],
        learnerId: `${n}`,
        completionPercentage,
        lastAccessed: `2026-0${word === 'Old' ? 1 : 2}-${completionPercentage === 10 ? '02' : '03'}T00:00:00Z`,
      })),
    ),
  })

/** Applies one version of a school and then the next over this network, each until it succeeds. */
async function applied(through: (transport: Transport) => Transport): Promise<unknown> {
  const academy = await openTestAcademy()
  const { key } = await academy.person('admin')
  const env = { LEARNCTL_URL: 'https://school.example', LEARNCTL_API_KEY: key }
  const troubledCli = testCli({ transport: through(transportTo(academy)) })
  const calm = testCli({ transport: transportTo(academy) })
  onTestFinished(async () => {
    for (const cli of [troubledCli, calm]) cli.remove()
    await academy.close()
  })
  for (const word of ['Old', 'New']) {
    writeSchool(troubledCli, word)
    academy.clock.advance(60_000)
    let ran = await troubledCli.run('apply school.json --yes', { env })
    for (let attempt = 0; ran.code === 7 && attempt < 200; attempt += 1) {
      // Its lease may still exist, because the release may have been lost.
      academy.clock.advance(60_000)
      ran = await troubledCli.run('apply school.json --yes', { env })
    }
    expect(ran.code, ran.stderr).toBe(0)
  }
  writeSchool(calm, 'New')
  const compared = await calm.run('diff school.json', { env })
  expect(compared.code, compared.stdout).toBe(0)
  const { stdout } = await calm.run('dump', { env })
  // Each attempt starts a minute after the one before.
  return stdout.replaceAll(/\b[a-z]{3}_\w+/g, 'id').replaceAll(/gradedAt: \S+/g, 'gradedAt')
}

function writeSchool({ cwd }: TestCli, word: string): void {
  writeFileSync(join(cwd, 'school.json'), school(word))
}

test('through a network that refuses, drips and breaks at random, an apply that is run again does the same as one that is undisturbed', {
  tags: ['slow'],
}, async () => {
  const expected = await applied((transport) => transport)
  await fc.assert(
    fc.asyncProperty(anyTrouble, async (planned) => {
      expect(await applied((transport) => troubledTransport(transport, planned))).toEqual(expected)
    }),
    { numRuns, endOnFailure: true },
  )
})
