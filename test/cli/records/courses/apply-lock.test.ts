import { writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, describe, expect, onTestFinished, vi } from 'vitest'
import type { Context } from '../../../../src/cli/command/context.ts'
import { whileApplying } from '../../../../src/cli/records/apply-lock.ts'
import { openapiOf } from '../../../../src/contract/openapi/openapi.ts'
import { type TestCli, test, testCli } from '../../../helpers/cli.ts'
import { putNewAcademy } from '../../../helpers/new-academy.ts'
import { slowRows } from '../../../helpers/slow-rows.ts'

const academyFile = `learnctl: 1
courses:
  - externalId: sea
    title: Sea
    lessons:
      - title: Waves
      - title: Tides
`
const courseFile = `externalId: sea
title: Sea
lessons:
  - title: Waves
  - title: Tides
`

/** The program with short but real waits. */
async function patient(ms = 100): Promise<TestCli> {
  const cli = testCli({
    env: { LEARNCTL_DATABASE: 'academy.db' },
    sleep: (_, signal) => delay(ms, undefined, signal ? { signal } : {}),
  })
  onTestFinished(cli.remove)
  await putNewAcademy(join(cli.cwd, 'academy.db'))
  writeFileSync(join(cli.cwd, 'academy.yaml'), academyFile)
  writeFileSync(join(cli.cwd, 'sea.yaml'), courseFile)
  return cli
}

const lease = (holder: string) => [
  'api',
  'PUT',
  '/v1/apply-lease',
  '--field',
  'id=held-by-another-apply',
  '--field',
  `holder=${holder}`,
]
const titles = 'lessons list --course ext:sea --columns title'

describe('applies at the same time', () => {
  test.for(slowRows(['apply academy.yaml --yes', 'courses apply -f sea.yaml']))(
    'make each lesson once: %s',
    async (line) => {
      const cli = await patient()
      const runs = await Promise.all([1, 2, 3, 4].map(() => cli.run(line)))
      expect(runs.map(({ code }) => code)).toEqual([0, 0, 0, 0])
      expect((await cli.run(titles)).stdout).toBe('Waves\nTides\n')
      expect(runs.filter(({ stderr }) => /Created course|3 created/.test(stderr))).toHaveLength(1)
    },
  )

  test.for(slowRows(['apply academy.yaml --yes', 'courses apply -f sea.yaml', 'courses copy ext:other']))(
    'are refused with who applies, and for how long: %s',
    async (line) => {
      const cli = await patient(1)
      await cli.run('courses create --title Other --external-id other')
      expect(await cli.run(lease('build-7, process 1'))).toMatchObject({ code: 0 })
      const { code, stderr } = await cli.run(line)
      expect(code).toBe(6)
      expect(stderr).toBe(
        `note: Waiting for another apply to end: admin@academy.local, build-7, process 1
error: Another apply to ${cli.cwd}/academy.db is running: admin@academy.local, build-7, process 1, for 0 s
  Nothing was changed; waited 30 s
  hint: If it was killed, its lease ends within 60 s; to end it now: learnctl api DELETE /v1/apply-lease/held-by-another-apply
`,
      )
      expect((await cli.run('courses list --columns title')).stdout).toBe('Other\n')
    },
  )

  test('do not keep what changes nothing waiting', async () => {
    const cli = await patient()
    await cli.run(lease('build-7, process 1'))
    expect(await cli.run('apply academy.yaml --dry-run')).toMatchObject({ code: 0 })
    expect(await cli.run('apply academy.yaml --plan-out plan.json')).toMatchObject({ code: 0 })
    expect(await cli.run('courses apply -f sea.yaml --dry-run')).toMatchObject({ code: 0 })
  })

  test('do not wait for a process of this machine that is gone', async () => {
    const cli = await patient()
    // Process ids end below this one on every platform.
    await cli.run(lease(`${hostname()}, process 2147483646`))
    expect(await cli.run('apply academy.yaml --yes')).toMatchObject({ code: 0 })
  })

  test('release the lease where they fail', async () => {
    const cli = await patient()
    expect(await cli.run('apply academy.yaml')).toMatchObject({ code: 2 })
    expect(await cli.run('apply academy.yaml --yes')).toMatchObject({ code: 0 })
  })
})

describe('an apply that goes on for long', () => {
  afterEach(() => void vi.useRealTimers())

  /** A platform that responds to requests for the lease with these times of acquisition in turn. */
  function contextWith(takenAt: readonly string[]): { context: Context; sent: string[] } {
    const sent: string[] = []
    const left = [...takenAt]
    const call = async ({ id }: { id: string }, { body }: { body?: { id: string } }) => {
      if (id === 'service.openapi') return { data: openapiOf() }
      sent.push(id)
      return { data: { ...body, takenAt: left.shift() } }
    }
    const session = {
      caller: async () => ({ call, isOurs: () => true }),
      target: () => ({ kind: 'remote', url: 'https://school.example' }),
    }
    const io = { signal: new AbortController().signal }
    return { context: { io, session } as never, sent }
  }

  test('renews its lease, and releases it', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const { context, sent } = contextWith(['a', 'a', 'a'])
    await whileApplying(context, context.session, async ({ io }) => {
      await vi.advanceTimersByTimeAsync(10_000)
      await vi.advanceTimersByTimeAsync(10_000)
      expect(io.signal.aborted).toBe(false)
    })
    expect(sent).toEqual(['leases.take', 'leases.take', 'leases.take', 'leases.release'])
  })

  test('stops where it was lost in between', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const { context } = contextWith(['a', 'b'])
    const applied = whileApplying(context, context.session, async ({ io }) => {
      await vi.advanceTimersByTimeAsync(10_000)
      io.signal.throwIfAborted()
    })
    await expect(applied).rejects.toMatchObject({
      code: 'lease_lost',
      exit: 'conflict',
      message: 'Stopped: the lease of this apply to school.example was lost',
    })
  })
})
