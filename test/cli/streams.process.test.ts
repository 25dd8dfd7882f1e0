import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test as base, describe, expect } from 'vitest'
import { openAcademy } from '../../src/server/local.ts'
import { freshDirectory } from '../helpers/academy.ts'
import { bin } from '../helpers/process.ts'

/** Starts the program as a process of its own, in a fresh home. */
const test = base.extend('learnctl', async ({ task: _ }, { onCleanup }) => {
  const home = freshDirectory()
  onCleanup(home.remove)
  await (await openAcademy({ path: join(home.path, 'academy.db') })).close()
  return (
    words: readonly string[],
    env: Record<string, string> = {},
    stdout: 'pipe' | number = 'pipe',
    before: readonly string[] = [],
  ) => {
    const [program = '', ...rest] = [...before, process.execPath, bin, ...words]
    return spawn(program, rest, {
      cwd: home.path,
      env: { PATH: process.env['PATH'], HOME: home.path, LEARNCTL_DATABASE: 'academy.db', ...env },
      stdio: ['pipe', stdout, 'pipe'],
    }) as ChildProcessWithoutNullStreams
  }
})

const codeOf = async (child: ChildProcessWithoutNullStreams) => (await once(child, 'close'))[0]

describe('a process', () => {
  test.for([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)(
    'that gets %s while it waits for a server ends with %d',
    async ([signal, code], { learnctl }) => {
      const server = createServer().listen(0, '127.0.0.1')
      await once(server, 'listening')
      const { port } = server.address() as AddressInfo
      const env = { LEARNCTL_DATABASE: '', LEARNCTL_URL: `http://127.0.0.1:${port}`, LEARNCTL_API_KEY: 'k' }
      const asked = once(server, 'request')
      const child = learnctl(['courses', 'list'], env)
      await asked
      child.kill(signal)
      expect(await codeOf(child)).toBe(code)
      server.close()
    },
  )

  test('that gets SIGINT while it reads standard input ends with 130', async ({ learnctl }) => {
    const child = learnctl(['courses', 'create', '--body', '-'])
    // More than a pipe holds: once it is written, the program is reading.
    await new Promise((resolve) => child.stdin.write(' '.repeat(1024 * 1024), resolve))
    child.kill('SIGINT')
    expect(await codeOf(child)).toBe(130)
  })

  test('whose reader leaves ends with 0 and says nothing', async ({ learnctl }) => {
    const child = learnctl(['help', 'environment'])
    child.stdout.destroy()
    const [code, stderr] = await Promise.all([codeOf(child), text(child.stderr)])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  })

  test('that writes to a full disk says so', async ({ learnctl, skip }) => {
    const full = openFull()
    if (full === null) return skip('there is no /dev/full here')
    const child = learnctl(['courses', 'list', '-o', 'csv'], {}, full)
    const [code, stderr] = await Promise.all([codeOf(child), text(child.stderr)])
    expect(code).toBe(1)
    expect(stderr).toContain('error: Cannot write the output: the disk is full\n')
  })

  test('without a temporary directory says so, and does not make one', async ({ learnctl }) => {
    const script = '"$@"; code=$?; ls; exit $code'
    const child = learnctl(['server', 'exec', '--', 'true'], { TMPDIR: './none' }, 'pipe', [
      'sh',
      '-c',
      script,
      'sh',
    ])
    const [code, stdout, stderr] = await Promise.all([codeOf(child), text(child.stdout), text(child.stderr)])
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr:
        'error: Cannot use the temporary directory ./none: it does not exist\n  hint: Set TMPDIR to a directory that you can write to\n',
    })
    expect(stdout).not.toContain('none')
  })

  test('that does not catch an error of the library prints no more than a screen', async ({ learnctl }) => {
    const library = new URL('../../dist/library/client.js', import.meta.url)
    const script = `import { createClient } from '${library}'
      await createClient({ baseUrl: 'http://127.0.0.1:1', attempts: 1 }).courses.list()`
    const child = learnctl([], {}, 'pipe', [process.execPath, '--input-type=module', '-e', script])
    const [code, stderr] = await Promise.all([codeOf(child), text(child.stderr)])
    expect(code).toBe(1)
    expect(stderr).toContain('ConnectionError: Connection refused by 127.0.0.1:1')
    expect(stderr.length).toBeLessThan(3000)
  })

  test('whose backup finds no room names the backup, and leaves nothing', async ({ learnctl }) => {
    const made = learnctl(['courses', 'create', '--title', 'Long', '--description', 'x'.repeat(9_000)])
    expect(await codeOf(made)).toBe(0)
    // Files of this process have at most 64 KiB: to write more fails as on a broken disk.
    const script = 'ulimit -f 128; "$@"; code=$?; ls; exit $code'
    const child = learnctl(['server', 'backup', 'copy.db'], {}, 'pipe', ['sh', '-c', script, 'sh'])
    const [code, stdout, stderr] = await Promise.all([codeOf(child), text(child.stdout), text(child.stderr)])
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'error: copy.db cannot be read or written: the disk reports an error\n',
    })
    expect(stdout).not.toContain('copy')
  })

  test('writes megabytes into a pipe as a whole', async ({ learnctl }) => {
    const input = JSON.stringify({ title: 'Long', description: 'x'.repeat(9_000), modules: manyModules() })
    const made = learnctl(['courses', 'create', '--body', '-', '-o', 'json'])
    made.stdin.end(input)
    const out = await text(made.stdout)
    expect(out.length).toBeGreaterThan(100_000)
    expect(JSON.parse(out)).toMatchObject({ title: 'Long' })
  })
})

function manyModules() {
  return Array.from({ length: 100 }, (_, index) => ({
    title: `Module ${index}`,
    description: 'y'.repeat(2000),
  }))
}

function openFull(): number | null {
  try {
    return openSync('/dev/full', 'w')
  } catch {
    return null
  }
}
