import fc from 'fast-check'
import { expect, onTestFinished } from 'vitest'
import { ConnectionError } from '../../../src/client/errors.ts'
import { test, testCli, transportTo } from '../../helpers/cli.ts'
import { randomRuns } from '../../helpers/random.ts'
import type { TestAcademy } from '../../helpers/test-academy.ts'
import { apply, changesOf, school, stateOf } from './random-school.ts'

/** A command line whose platform is out of reach after an undo has made so many writes, as if its process were killed. */
async function breaking(academy: TestAcademy) {
  const { key } = await academy.person('admin')
  const transport = transportTo(academy)
  let limit: number | undefined
  let isBroken = false
  const cli = testCli({
    env: { LEARNCTL_URL: 'https://school.example', LEARNCTL_API_KEY: key },
    transport: async (request) => {
      const isUndo = request.method === 'POST' && request.url.includes('/v1/undo/')
      if (!isUndo || limit === undefined) return transport(request)
      if (isBroken) throw new ConnectionError(request, 'refused', 'Connection refused')
      isBroken = true
      return transport({ ...request, body: JSON.stringify({ ...JSON.parse(String(request.body)), limit }) })
    },
  })
  onTestFinished(() => cli.remove())
  const run = (line: string | readonly string[], writes?: number) => {
    limit = writes
    isBroken = false
    // The lease of an interrupted run may still be there.
    academy.clock.advance(60_000)
    return cli.run(line)
  }
  return { ...cli, run }
}

type Cli = Awaited<ReturnType<typeof breaking>>

/** Makes a change of a school: returns the states before and after, and the ids of the changes, the newest first. */
async function change(cli: Cli, [one, other]: Parameters<typeof apply>[1][]) {
  if (!one || !other) throw new TypeError('two schools are needed')
  await apply(cli, one)
  const [before, known] = [await stateOf(cli), (await changesOf(cli)).length]
  await apply(cli, other)
  const [after, changes] = [await stateOf(cli), await changesOf(cli)]
  return { before, after, ids: changes.slice(0, changes.length - known).map(({ id }) => id) }
}

/** Undoes a change. Returns the id of the undo; null if there was nothing to undo. */
async function undo(cli: Cli, id: string): Promise<string | null> {
  const ran = await cli.run(`undo ${id} --yes -o json`)
  expect(ran.code, ran.stderr + ran.stdout).toBe(0)
  return (JSON.parse(ran.stdout) as { change?: string | null }).change ?? null
}

test('an undo that is killed after any writes, and run again, returns to the state before', {
  tags: ['slow'],
  timeout: 240_000,
}, async ({ academy }) => {
  const cli = await breaking(academy)
  const writes = fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 8 })
  await fc.assert(
    fc.asyncProperty(school, school, writes, async (one, other, writes) => {
      const { before, after, ids } = await change(cli, [one, other])
      for (const id of ids) {
        const codes: number[] = []
        for (const left of writes) codes.push((await cli.run(`undo ${id} --yes`, left)).code)
        const ran = await cli.run(`undo ${id} --yes`)
        expect(ran.code, ran.stderr).toBe(0)
        const isContinued = codes[0] !== 0
        if (isContinued) expect(ran.stderr + codes).toContain('Continuing')
      }
      expect(await stateOf(cli)).toBe(before)
      const made = (await changesOf(cli)).filter(({ undoes }) => undoes !== null && ids.includes(undoes))
      for (const { id, counts } of made) if (counts.length > 0) await undo(cli, id)
      expect(await stateOf(cli)).toBe(after)
    }),
    { numRuns: randomRuns(1, 12), endOnFailure: true },
  )
})
