import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect } from 'vitest'
import type { Change } from '../../../src/contract/changes.ts'
import { type TestCli, test } from '../../helpers/cli.ts'
import { randomRuns } from '../../helpers/random.ts'

const word = fc.constantFrom('Alps', 'Bays', 'Capes', 'Dunes', 'long '.repeat(1000).trim())
const some = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined })

const user = fc.record({
  role: fc.constantFrom('learner', 'instructor', 'analyst'),
  status: fc.constantFrom('active', 'suspended'),
  profile: some(fc.record({ firstName: fc.constantFrom('Ada', 'Bob'), bio: fc.constantFrom('', 'short') })),
})
const course = fc.record({
  title: word,
  description: some(word),
  status: fc.constantFrom('draft', 'published', 'archived'),
  tags: fc.uniqueArray(fc.constantFrom('a', 'b', 'c')),
  lessons: fc.uniqueArray(fc.record({ externalId: fc.constantFrom('1', '2', '3'), title: word }), {
    selector: ({ externalId }) => externalId,
    // The places of several lessons are in undo.test.ts.
    maxLength: 1,
  }),
})
const place = fc.record({
  status: fc.constantFrom('active', 'inactive', 'completed'),
  scores: fc.dictionary(fc.constantFrom('exam', 'essay'), fc.constantFrom(0, 40, 100)),
})
/** A school: users and courses by their place, and enrolments of each user in each course; null for none. */
const school = fc.record({
  users: fc.tuple(...Array.from({ length: 3 }, () => fc.option(user))),
  courses: fc.tuple(...Array.from({ length: 2 }, () => fc.option(course))),
  places: fc.tuple(...Array.from({ length: 6 }, () => fc.option(place))),
})
type School = typeof school extends fc.Arbitrary<infer Value> ? Value : never

function documentOf({ users, courses, places }: School) {
  const there = places.flatMap((place, index) => {
    const [userId, courseId] = [index % 3, Math.floor(index / 3)]
    return place && users[userId] && courses[courseId]
      ? [{ userId: `U${userId}`, courseId: `C${courseId}`, ...place }]
      : []
  })
  return {
    learnctl: 1,
    users: users.flatMap((user, n) =>
      user ? [{ externalId: `U${n}`, email: `u${n}@b.example`, ...user }] : [],
    ),
    courses: courses.flatMap((course, n) =>
      course
        ? [
            {
              ...course,
              externalId: `C${n}`,
              lessons: course.lessons.map((lesson) => ({
                ...lesson,
                externalId: `C${n}-${lesson.externalId}`,
              })),
            },
          ]
        : [],
    ),
    enrollments: there.map(({ scores: _, ...enrollment }) => enrollment),
    grades: there.flatMap(({ scores, userId, courseId, status }) =>
      status === 'inactive'
        ? []
        : Object.entries(scores).map(([itemId, scoreGiven]) => ({
            learnerId: userId,
            courseId,
            itemId,
            scoreGiven,
          })),
    ),
  }
}

/** Returns the academy as files, without times. */
async function stateOf(cli: TestCli): Promise<string> {
  return (await cli.run('dump')).stdout.replaceAll(/^ +(gradedAt|enrolledAt):.*\n/gm, '')
}

async function apply(cli: TestCli, wanted: School): Promise<void> {
  writeFileSync(join(cli.cwd, 'school.json'), JSON.stringify(documentOf(wanted)))
  // Whatever the platform refuses, the rest is a change.
  for (let run = 0; run < 2; run += 1) {
    if ((await cli.run('apply school.json --label ci --prune --yes')).code === 0) return
  }
}

async function changesOf(cli: TestCli): Promise<Change[]> {
  return JSON.parse((await cli.run('undo list --all -o json')).stdout) as Change[]
}

test('random changes are undone to the state before, and redone to the state after', async ({
  remote,
  academy,
}) => {
  const { key } = await academy.person('admin')
  const env = { LEARNCTL_URL: 'https://school.example', LEARNCTL_API_KEY: key }
  const cli = { ...remote, run: (line: string | readonly string[]) => remote.run(line, { env }) }
  await fc.assert(
    fc.asyncProperty(school, school, async (one, other) => {
      await apply(cli, one)
      const [before, known] = [await stateOf(cli), (await changesOf(cli)).length]
      academy.clock.advance(1000)
      await apply(cli, other)
      const after = await stateOf(cli)
      const made = (await changesOf(cli)).slice(0, (await changesOf(cli)).length - known)
      const undos: string[] = []
      for (const { id } of made) {
        const ran = await cli.run(`undo ${id} --yes -o json`)
        expect(ran.code, ran.stderr + ran.stdout).toBe(0)
        const { change } = JSON.parse(ran.stdout) as { change?: string | null }
        if (change) undos.unshift(change)
      }
      expect(await stateOf(cli)).toBe(before)
      if (undos.length > 1) return
      for (const id of undos) {
        const ran = await cli.run(`undo ${id} --yes`)
        expect(ran.code, ran.stderr).toBe(0)
      }
      expect(await stateOf(cli)).toBe(after)
    }),
    { numRuns: randomRuns(4, 40), endOnFailure: true },
  )
})
