import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, onTestFinished } from 'vitest'
import { ConnectionError } from '../../../../src/client/errors.ts'
import type { HttpBody, HttpResponse, Transport } from '../../../../src/contract/http.ts'
import { openTestAcademy, type TestAcademy } from '../../../helpers/academy.ts'
import { type Ran, type TestCli, test, testCli, transportTo } from '../../../helpers/cli.ts'
import { randomRuns } from '../../../helpers/random.ts'
import { slowRows } from '../../../helpers/slow-rows.ts'

const numRuns = randomRuns(1, 3)

/** Troubles of a request. */
const troubles = [
  ...['none', 'none', 'none', 'none'],
  ...['429', '503', 'cut before', 'cut after', 'drip', 'drip and cut'],
] as const
type Trouble = (typeof troubles)[number]

/** Any troubles, one for each request; then none. */
const anyTrouble = fc.array(fc.constantFrom(...troubles), { minLength: 20, maxLength: 120 })

/** A response that asks to retry later. */
const retryLater = (status: 429 | 503, seconds = 1): HttpResponse => ({
  status,
  headers: { 'content-type': 'application/problem+json', 'retry-after': String(seconds) },
  body: JSON.stringify({ title: 'Later', status, code: status === 429 ? 'rate_limited' : 'unavailable' }),
})

/** Carries requests to a platform with a trouble for each, then without. */
function troubledTransport(transport: Transport, planned: readonly Trouble[]): Transport {
  const left = [...planned]
  return async (request) => {
    const trouble = left.shift() ?? 'none'
    if (trouble === '429' || trouble === '503') return retryLater(trouble === '429' ? 429 : 503)
    const lost = () => new ConnectionError(request, 'reset', 'Connection lost')
    if (trouble === 'cut before') throw lost()
    const response = await transport(request)
    if (trouble === 'cut after') throw lost()
    if (trouble === 'none' || response.body === null) return response
    return { ...response, body: dripping(response.body, trouble, lost) }
  }
}

/** A body in small pieces, cut off after the first of them if requested. */
async function* dripping(body: HttpBody, trouble: Trouble, lost: () => Error): AsyncGenerator<Uint8Array> {
  const step = 97
  for await (const piece of typeof body === 'string' || body instanceof Uint8Array ? [body] : body) {
    const bytes = Buffer.from(piece)
    for (let at = 0; at < bytes.length; at += step) {
      yield bytes.subarray(at, at + step)
      if (trouble === 'drip and cut') throw lost()
    }
  }
}

interface Place {
  readonly academy: TestAcademy
  readonly key: string
}

/** Makes an academy that has some of the records already. */
async function openPlace(): Promise<Place> {
  const academy = await openTestAcademy()
  onTestFinished(() => academy.close())
  const { key, post, put } = await academy.person('admin')
  await post('/v1/users', { email: 'taken@b.example', externalId: 'other' })
  await post('/v1/users', { email: 'u3@b.example', externalId: '3', profile: { firstName: 'Before' } })
  await post('/v1/users', { email: 'u4@b.example', externalId: '4' })
  const [courseId, learnerId] = ['ext:A', 'ext:3']
  for (const externalId of ['A', 'B']) await post('/v1/courses', { externalId, title: externalId })
  await put('/v1/courses/ext:A', { status: 'published' })
  await post('/v1/lessons', { courseId, externalId: 'L2', title: 'Before' })
  await post('/v1/lessons', { courseId, externalId: 'L5', title: 'Lesson 5' })
  await post('/v1/enrollments', { courseId, userId: 'ext:3', enrolledAt: '2026-01-01T00:00:00.000Z' })
  await put(`/v1/learners/${learnerId}/progress`, { courseId, completionPercentage: 5 })
  await put('/v1/grades', { courseId, learnerId, scoreGiven: 5, itemId: 'i1' })
  return { academy, key }
}

const rowsOf = (count: number, row: (number: number) => string) =>
  Array.from({ length: count }, (_, number) => `${row(number)}\n`).join('')
/** External id of an existing user, 3 or 4, or of a missing one. */
const someone = (number: number) => `ext:${number % 4 === 0 ? 'nobody' : 3 + (number % 2)}`

const enrolled = ['A', 'B', 'nowhere'].flatMap((course) =>
  ['ext:3', 'ext:4', 'ext:nobody'].flatMap((user) =>
    ['learner', 'instructor'].map((role) => `ext:${course},${user},${role}`),
  ),
)

/** User 3 gets the address that user 4 releases in a later row. */
const nameOf = (number: number) => ({ 3: 'u4', 4: 'moved', 9: 'taken' })[number] ?? `u${number}`

/** A file for each noun: new, changed, unchanged and refused records. */
const files: Readonly<Record<string, string>> = {
  users: `externalId,email,firstName\n${rowsOf(40, (n) => `${n},${nameOf(n)}@b.example,${n === 3 ? 'After' : ''}`)}`,
  courses: `externalId,title\n${rowsOf(12, (n) => `C${n},Course ${n}`)}A,A\nB,Other\n`,
  lessons: `externalId,courseId,title\n${rowsOf(16, (n) => `${n % 5 === 4 ? '' : `L${n}`},ext:${n === 7 ? 'nowhere' : 'A'},Lesson ${n}`)}`,
  enrollments: `courseId,userId,role,enrolledAt\n${enrolled.map((row) => `${row},2026-02-01\n`).join('')}`,
  progress: `courseId,learnerId,completionPercentage,lastAccessed\n${rowsOf(16, (n) => `ext:A,${someone(n)},${10 + n},2026-02-${10 + n}`)}`,
  grades: `courseId,learnerId,itemId,scoreGiven\n${rowsOf(16, (n) => `ext:A,${someone(n)},i${n},${50 + n}`)}`,
}

function cliOf(transport: Transport, noun: string, home?: string): TestCli {
  const cli = testCli({ transport, ...(home !== undefined && { home }) })
  onTestFinished(() => cli.remove())
  writeFileSync(join(cli.cwd, 'f.csv'), files[noun] ?? '')
  return cli
}

const envOf = (key: string) => ({ LEARNCTL_URL: 'https://school.example', LEARNCTL_API_KEY: key })
const withoutIds = (text: string) => text.replaceAll(/\b[a-z]{3}_\w+/g, 'id')

/** Result of an import: its exit code, the rejected rows, and all records without server-made ids. */
async function outcomeOf(cli: TestCli, { academy, key }: Place, noun: string, { code }: Ran) {
  const calm = testCli({ transport: transportTo(academy) })
  const shown = await calm.run(`${noun} export --all-columns`, { env: envOf(key) })
  calm.remove()
  const path = join(cli.cwd, 'f.errors.csv')
  const errors = existsSync(path) ? withoutIds(readFileSync(path, 'utf8')) : null
  const records = withoutIds(shown.stdout).split('\r\n').sort()
  return { code, errors, records }
}

/** Runs an import, and again as long as the platform is out of reach. */
async function importTo(cli: TestCli, key: string, noun: string, flags: string): Promise<Ran> {
  const line = `${noun} import f.csv ${flags}`
  let ran = await cli.run(line, { env: envOf(key) })
  for (let attempt = 0; ran.code === 7 && attempt < 200; attempt += 1) {
    ran = await cli.run(line, { env: envOf(key) })
  }
  return ran
}

describe('through a network that refuses, drips and breaks at random, an import has the outcome of one that is undisturbed', () => {
  test.for(
    slowRows([
      ['users', '--batch-size 4'],
      ['users', '--batch-size 1'],
      ['courses', ''],
      ['lessons', ''],
      ['enrollments', '--batch-size 3'],
      ['enrollments', '--batch-size 1 --on-exists skip'],
      ['progress', '--batch-size 3'],
      ['progress', '--batch-size 1'],
      ['grades', '--batch-size 3'],
      ['grades', '--batch-size 1'],
    ]),
  )('%s %s', async ([noun, flags]) => {
    const calm = await openPlace()
    const still = cliOf(transportTo(calm.academy), noun)
    const expected = await outcomeOf(still, calm, noun, await importTo(still, calm.key, noun, flags))
    expect(expected.code).toBe(noun === 'courses' ? 0 : 8)
    await fc.assert(
      fc.asyncProperty(anyTrouble, async (planned) => {
        const place = await openPlace()
        const cli = cliOf(troubledTransport(transportTo(place.academy), planned), noun)
        expect(await outcomeOf(cli, place, noun, await importTo(cli, place.key, noun, flags))).toEqual(
          expected,
        )
      }),
      { numRuns, endOnFailure: true },
    )
  })
})

/** Carries requests to an academy for a process that dies after so many responses; it never gets the last ones. */
function ending(transport: Transport, answers: number, end: () => void): Transport {
  const never = new Promise<never>(() => {})
  let left = answers
  return async (request) => {
    if (left <= 0) return never
    const response = await transport(request)
    left -= 1
    if (left === 0) end()
    return left > 0 ? response : never
  }
}

/** Runs a line in a process that dies after so many responses; true if it finished before. */
async function runUntil(line: string, noun: string, { academy, key }: Place, home: string, answers: number) {
  const gone = Promise.withResolvers<boolean>()
  const transport = ending(transportTo(academy), answers, () => gone.resolve(false))
  const ran = cliOf(transport, noun, home).run(line, { env: envOf(key) })
  return Promise.race([gone.promise, ran.then(() => true)])
}

test.for(
  slowRows([
    ['users', ''],
    ['enrollments', '--on-exists skip'],
    ['progress', ''],
  ]),
)(
  'an import of %s %s whose process is gone after any answers, and run again each time, has the outcome of one that was not',
  async ([noun, flags]) => {
    const line = `${noun} import f.csv --batch-size 1 ${flags}`
    const calm = await openPlace()
    const still = cliOf(transportTo(calm.academy), noun)
    const expected = await outcomeOf(still, calm, noun, await still.run(line, { env: envOf(calm.key) }))
    const moments = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(moments, async (answers) => {
        const place = await openPlace()
        const cli = cliOf(transportTo(place.academy), noun)
        for (const count of answers) if (await runUntil(line, noun, place, cli.home, count)) return
        const ran = await cli.run(line, { env: envOf(place.key) })
        expect(await outcomeOf(cli, place, noun, ran)).toEqual(expected)
      }),
      { numRuns, endOnFailure: true },
    )
  },
)

test('an import that is told to wait goes on half as fast, and takes as long as it was told', async ({
  academy,
}) => {
  const { key } = await academy.person('admin')
  const waits: number[] = []
  let refusals = 0
  const transport = transportTo(academy)
  const cli = testCli({
    sleep: async (ms) => void waits.push(ms),
    transport: async (request) => {
      refusals += request.method === 'POST' ? 1 : 0
      return refusals === 3 ? retryLater(429, 7) : transport(request)
    },
  })
  onTestFinished(() => cli.remove())
  writeFileSync(join(cli.cwd, 'f.csv'), files['users'] ?? '')
  const ran = await importTo(cli, key, 'users', '--batch-size 2')
  expect(ran.stderr).toContain('40 created')
  // Includes this request and all later ones.
  expect(waits.filter((ms) => ms >= 7000)).toHaveLength(2)
})
