import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import { loadExamples, readExampleData } from '../../src/cli/local-server/example-data.ts'
import { createCaller } from '../../src/client/caller.ts'
import { openAcademy } from '../../src/server/academy/local-academy.ts'
import { start } from './academy.ts'
import { type Ran, type TestCli, testCli } from './cli.ts'

/** How many of the example learners the academy has: a few suffice where figures do not matter. */
export type Learners = 'all' | 'few'

/** Results of quickstart, which takes a second: the tests of a worker copy them. */
const originals: Partial<Record<Learners, ReturnType<typeof makeOriginal>>> = {}

/** Copies the result of quickstart into the home of a program; returns what quickstart printed. */
export async function putQuickstart({ home, config }: TestCli, learners: Learners = 'all'): Promise<Ran> {
  originals[learners] ??= makeOriginal(learners)
  const { home: from, ran, files } = await originals[learners]
  for (const { path, mode, bytes } of files) {
    mkdirSync(join(home, dirname(path)), { recursive: true, mode: 0o700 })
    writeFileSync(join(home, path), bytes, { mode })
  }
  const profiles = join(config, 'profiles.json')
  writeFileSync(profiles, readFileSync(profiles, 'utf8').replaceAll(from, home))
  return { ...ran, stdout: ran.stdout.replaceAll(from, home) }
}

/** Returns the output of quickstart, and the files that it left in a home. */
async function makeOriginal(learners: Learners) {
  let time = Date.parse(start)
  // Each record gets its own time, so that lists have a fixed order.
  const now = () => ++time
  const cli = testCli({ now })
  try {
    if (learners === 'few') await addFewLearners(cli, () => new Date(now()))
    const ran = await cli.run('quickstart')
    expect(ran).toMatchObject({ code: 0, stderr: '' })
    const files = readdirSync(cli.home, { recursive: true, encoding: 'utf8' }).flatMap((path) => {
      const file = statSync(join(cli.home, path))
      return file.isFile() ? [{ path, mode: file.mode, bytes: readFileSync(join(cli.home, path)) }] : []
    })
    return { home: cli.home, ran, files }
  } finally {
    cli.remove()
  }
}

/** Learners that help and docs name. */
const namedLearners = ['6516', '11391', '28400', '45900', '65002']

/** Makes the academy that quickstart finds, and adds no learners to, with some of them. */
async function addFewLearners({ home }: TestCli, now: () => Date): Promise<void> {
  const data = await readExampleData()
  const users = data.users.filter(
    ({ externalId }, index) => index < 25 || namedLearners.includes(`${externalId}`),
  )
  const references = new Set(users.map(({ externalId }) => `ext:${externalId}`))
  const ofFew = ({ learnerId }: { learnerId: string }) => references.has(learnerId)
  const directory = join(home, '.local/share/learnctl')
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const academy = await openAcademy({ path: join(directory, 'local.db'), now })
  await loadExamples(createCaller({ transport: academy.transport, baseUrl: 'http://academy.local' }), {
    courses: data.courses,
    users,
    enrollments: data.enrollments.filter(({ userId }) => references.has(userId)),
    progress: data.progress.filter(ofFew),
    grades: data.grades.filter(ofFew),
  })
  await academy.close()
}
