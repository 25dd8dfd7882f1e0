import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { test as base, describe, expect } from 'vitest'
import { parse } from 'yaml'
import { serve } from '../src/server/socket/serve.ts'
import { freshDirectory, passwordCost } from './helpers/academy.ts'
import { shownFiles } from './helpers/examples.ts'
import { bin, type Ended, root, run } from './helpers/process.ts'

interface Step {
  readonly name?: string
  readonly uses?: string
  readonly run?: string
  readonly if?: string
  readonly env?: Record<string, string>
  readonly with?: Record<string, string>
}

interface Workflow {
  readonly jobs: Record<string, { readonly env?: Record<string, string>; readonly steps: readonly Step[] }>
}

const page = readFileSync(join(root, 'docs/ci.md'), 'utf8')
const { jobs } = parse(/^```yaml\n([\s\S]*?)^```$/m.exec(page)?.[1] ?? '') as Workflow

/** A checkout with the files of the recipes, learnctl on the PATH, and a platform. */
const test = base.extend('place', async ({ task: _ }, { onCleanup }) => {
  const { path, remove } = freshDirectory()
  for (const name of ['work', 'temp', 'bin']) mkdirSync(join(path, name))
  const cwd = join(path, 'work')
  for (const [name, text] of shownFiles()) writeFileSync(join(cwd, name), text)
  const program = `#!/bin/sh\nexec '${process.execPath}' '${bin}' "$@"\n`
  writeFileSync(join(path, 'bin/learnctl'), program, { mode: 0o755 })
  const server = await serve({
    path: join(path, 'platform.db'),
    host: '127.0.0.1',
    port: 0,
    allowHosts: [],
    publicUrl: undefined,
    corsOrigins: [],
    perMinute: 0,
    writeLog: () => {},
    passwordCost,
    temporary: true,
  })
  onCleanup(async () => {
    await server.stop()
    remove()
  })
  /** Replaces the expressions of GitHub, and the example's platform with the one of the test. */
  const filled = (text: string) =>
    text
      .replace(/\$\{\{ (.*?) \}\}/g, (_, name: string) => values[name] ?? `no value for ${name}`)
      .replace('https://academy.example.org', server.url)
  const values: Record<string, string> = {
    'runner.temp': join(path, 'temp'),
    'secrets.LEARNCTL_API_KEY': server.firstKey ?? '',
  }
  /** Runs the scripts of a job as GitHub does, until one fails; learnctl is installed already. */
  async function runJob(name: string): Promise<Ended> {
    const job = jobs[name]
    let ended: Ended = { code: null, signal: null, stdout: '', stderr: '' }
    for (const step of job?.steps ?? []) {
      if (step.run === undefined || step.name === 'Install learnctl') continue
      const env = Object.entries({ ...job?.env, ...step.env }).map(([key, text]) => [key, filled(text)])
      ended = await run('bash', ['-e', '-c', filled(step.run)], {
        cwd,
        env: {
          HOME: path,
          CI: 'true',
          ...Object.fromEntries(env),
          PATH: [join(path, 'bin'), process.env['PATH']].join(delimiter),
        },
      })
      if (ended.code !== 0) break
    }
    return ended
  }
  return { cwd, temp: join(path, 'temp'), filled, runJob }
})

const kept = (temp: string) => readdirSync(temp).filter((name) => name.startsWith('learnctl-'))

describe('the workflow for GitHub Actions', () => {
  test('uses actions by their version, and uploads with a name and a path', () => {
    const steps = Object.values(jobs).flatMap((job) => job.steps)
    for (const { uses, run: script, with: given } of steps) {
      expect(uses ?? 'actions/none@v1').toMatch(/^actions\/[a-z-]+@v\d+$/)
      expect([uses, script].filter((each) => each !== undefined)).toHaveLength(1)
      if (uses?.includes('upload'))
        expect(Object.keys(given ?? {})).toEqual(expect.arrayContaining(['name', 'path']))
    }
  })

  test('tests against a temporary academy, which leaves nothing behind', async ({ place }) => {
    const ended = await place.runJob('test')
    expect(ended, ended.stderr).toMatchObject({ code: 0 })
    expect(kept(place.temp)).toEqual([])
  })

  test('keeps what it uploads where the tests fail', async ({ place }) => {
    writeFileSync(join(place.cwd, 'test.mjs'), 'process.exit(3)\n')
    expect(await place.runJob('test')).toMatchObject({ code: 3 })
    const upload = jobs['test']?.steps.find((step) => step.if === 'failure()')
    const [folder = ''] = kept(place.temp)
    const pattern = place.filled(upload?.with?.['path'] ?? '')
    expect(join(place.temp, folder)).toMatch(new RegExp(`^${pattern.replace('*', '\\w+')}$`))
    expect(readdirSync(join(place.temp, folder)).sort()).toEqual(['academy.db', 'server.log'])
  })

  test('seeds the platform, again at any time, and exports what it uploads', async ({ place }) => {
    const upload = jobs['seed']?.steps.find((step) => step.uses?.includes('upload') && !step.if)
    for (let time = 0; time < 2; time += 1) {
      const ended = await place.runJob('seed')
      expect(ended, ended.stderr).toMatchObject({ code: 0 })
      const file = join(place.cwd, upload?.with?.['path'] ?? '')
      expect(existsSync(file)).toBe(true)
      rmSync(file)
    }
  })

  test('fails with 8 where rows are rejected, and leaves them in the file that it uploads', async ({
    place,
  }) => {
    writeFileSync(join(place.cwd, 'users.csv'), 'email\ngrace@example.org\nnobody\n')
    expect(await place.runJob('seed')).toMatchObject({ code: 8 })
    const path = jobs['seed']?.steps.find((step) => step.if === 'failure()')?.with?.['path']
    expect(path).toBe('*.errors.csv')
    expect(readFileSync(join(place.cwd, 'users.errors.csv'), 'utf8')).toContain('nobody')
  })
})
