import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, onTestFinished } from 'vitest'
import { ConnectionError } from '../../../src/client/errors.ts'
import type { Transport } from '../../../src/contract/http.ts'
import { openTestAcademy, type TestAcademy } from '../../helpers/academy.ts'
import { elsewhere, type Ran, type TestCli, test, testCli } from '../../helpers/cli.ts'

/** More of them by hand: LEARNCTL_TEST_IMPORTS=500. The same one again: LEARNCTL_TEST_SEED. */
const numRuns = Number(process.env['LEARNCTL_TEST_IMPORTS'] ?? 3)
const seed = process.env['LEARNCTL_TEST_SEED']

/** What a network can do to one request. */
const troubles = ['none', 'none', 'none', '429', '503', 'cut before', 'cut after'] as const

const problem = (status: number) => ({
  status,
  headers: { 'content-type': 'application/problem+json', 'retry-after': '1' },
  body: JSON.stringify({ title: 'Later', status, code: status === 429 ? 'rate_limited' : 'unavailable' }),
})

/** The way to an academy with a trouble for each request, then none. */
function troubled(transport: Transport, planned: readonly (typeof troubles)[number][]): Transport {
  const left = [...planned]
  return async (request) => {
    const trouble = left.shift() ?? 'none'
    if (trouble === '429' || trouble === '503') return problem(Number(trouble))
    const cut = () => new ConnectionError(request, 'reset', 'Connection lost')
    if (trouble === 'cut before') throw cut()
    const response = await transport(request)
    if (trouble === 'cut after') throw cut()
    return response
  }
}

interface Place {
  readonly academy: TestAcademy
  readonly key: string
}

async function openPlace(): Promise<Place> {
  const academy = await openTestAcademy()
  onTestFinished(() => academy.close())
  const { key, post } = await academy.person('admin')
  await post('/v1/users', { email: 'taken@b.example', externalId: 'other' })
  await post('/v1/users', { email: 'u3@b.example', externalId: '3', profile: { firstName: 'Before' } })
  await post('/v1/users', { email: 'u4@b.example', externalId: '4' })
  return { academy, key }
}

const header = 'externalId,email,firstName\n'
const rows = Array.from({ length: 40 }, (_, row) => `${row},${row === 9 ? 'taken' : `u${row}`}@b.example,\n`)
const csv = header + rows.join('').replace('u3@b.example,', 'u3@b.example,After')

function cliOf(transport: Transport): TestCli {
  const cli = testCli({ transport })
  onTestFinished(() => cli.remove())
  writeFileSync(join(cli.cwd, 'u.csv'), csv)
  return cli
}

/** The outcome of an import: what it said, the rejected rows, and all users without what the server makes. */
async function outcomeOf(cli: TestCli, { academy, key }: Place, { code, stderr }: Ran): Promise<unknown> {
  const { body } = await academy.bearer(`Bearer ${key}`).get('/v1/users?limit=100&sort=email')
  const users = body.data.map(({ externalId, email, profile, version }: Record<string, unknown>) => {
    return { externalId, email, profile, version }
  })
  const path = join(cli.cwd, 'u.errors.csv')
  const errors = existsSync(path) ? readFileSync(path, 'utf8').replaceAll(/usr_\w+/g, 'usr') : null
  return { code, summary: stderr.match(/^Imported .*$/m)?.[0], errors, users }
}

/** Runs an import, and continues it as long as it says so. */
async function importTo(cli: TestCli, key: string, flags: string): Promise<Ran> {
  const env = { LEARNCTL_URL: 'https://school.example', LEARNCTL_API_KEY: key }
  let ran = await cli.run(`users import u.csv ${flags}`, { env })
  for (let attempt = 0; ran.code === 7 && attempt < 200; attempt += 1) {
    ran = await cli.run(`users import u.csv ${flags} --resume`, { env })
  }
  return ran
}

describe('through a network that refuses and breaks at random, an import has the outcome of one that is undisturbed', () => {
  test.for([
    ['in batches', '--batch-size 4'],
    ['row by row', '--batch-size 1'],
    ['row by row, failing where there is one', '--batch-size 1 --on-exists fail'],
  ] as const)('%s', async ([, flags]) => {
    const calm = await openPlace()
    const still = cliOf(elsewhere(calm.academy))
    const expected = await outcomeOf(still, calm, await importTo(still, calm.key, flags))
    expect(expected).toMatchObject({ code: 8 })
    const trouble = fc.array(fc.constantFrom(...troubles), { minLength: 20, maxLength: 120 })
    await fc.assert(
      fc.asyncProperty(trouble, async (planned) => {
        const place = await openPlace()
        const cli = cliOf(troubled(elsewhere(place.academy), planned))
        expect(await outcomeOf(cli, place, await importTo(cli, place.key, flags))).toEqual(expected)
      }),
      { numRuns, ...(seed !== undefined && { seed: Number(seed) }) },
    )
  })
})

test('an import that is told to wait goes on half as fast, and takes as long as it was told', async ({
  academy,
}) => {
  const { key } = await academy.person('admin')
  const waits: number[] = []
  let refusals = 0
  const transport = elsewhere(academy)
  const cli = testCli({
    sleep: async (ms) => void waits.push(ms),
    transport: async (request) => {
      refusals += request.method === 'POST' ? 1 : 0
      return refusals === 3 ? { ...problem(429), headers: { 'retry-after': '7' } } : transport(request)
    },
  })
  onTestFinished(() => cli.remove())
  writeFileSync(join(cli.cwd, 'u.csv'), csv)
  const ran = await importTo(cli, key, '--batch-size 2')
  expect(ran.stderr).toContain('40 created')
  // The request itself, and all that would have come after it.
  expect(waits.filter((ms) => ms >= 7000)).toHaveLength(2)
})
