import { once } from 'node:events'
import { openSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { test as base, describe, expect } from 'vitest'
import { freshDirectory } from '../helpers/fresh-directory.ts'
import { listen } from '../helpers/listen.ts'
import { putNewAcademy } from '../helpers/new-academy.ts'
import { launch, type Start, startProcess } from '../helpers/process.ts'

/** Starts the program as a process in a fresh home with an academy; `before` are words of the shell. */
const test = base.extend('learnctl', async ({ task: _ }, { onCleanup }) => {
  const home = freshDirectory()
  onCleanup(home.remove)
  await putNewAcademy(join(home.path, 'academy.db'))
  return (words: readonly string[], { env, ...start }: Start = {}, before: readonly string[] = []) => {
    const [program = '', ...rest] = [...before, ...launch, ...words]
    return startProcess(program, rest, {
      cwd: home.path,
      env: { HOME: home.path, LEARNCTL_DATABASE: 'academy.db', ...env },
      ...start,
    })
  }
})

describe('a process', () => {
  test.for([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)(
    'that gets %s while it waits for a server ends with %d',
    async ([signal, code], { learnctl }) => {
      const server = createServer()
      const { url, close } = await listen(server)
      const env = { LEARNCTL_DATABASE: '', LEARNCTL_URL: url, LEARNCTL_API_KEY: 'k' }
      const asked = once(server, 'request')
      const { kill, ended } = learnctl(['courses', 'list'], { env })
      await asked
      kill(signal)
      expect(await ended).toMatchObject({ code })
      close()
    },
  )

  test('that gets SIGINT while it reads standard input ends with 130', async ({ learnctl }) => {
    const { stdin, kill, ended } = learnctl(['courses', 'create', '--body', '-'], { stdin: null })
    // The input exceeds the buffer of a pipe: once it is written, the program is reading.
    await new Promise((resolve) => stdin.write(' '.repeat(1024 * 1024), resolve))
    kill('SIGINT')
    expect(await ended).toMatchObject({ code: 130 })
  })

  test('whose reader leaves ends with 0 and says nothing', async ({ learnctl }) => {
    const { child, ended } = learnctl(['help', 'environment'])
    child.stdout?.destroy()
    expect(await ended).toMatchObject({ code: 0, stderr: '' })
  })

  test('that writes to a full disk says so', async ({ learnctl, skip }) => {
    const full = openFull()
    if (full === null) return skip('there is no /dev/full here')
    const { code, stderr } = await learnctl(['courses', 'list', '-o', 'csv'], { stdout: full }).ended
    expect(code).toBe(1)
    expect(stderr).toContain('error: Cannot write the output: the disk is full\n')
  })

  test('without a temporary directory says so, and does not make one', async ({ learnctl }) => {
    const script = '"$@"; code=$?; ls; exit $code'
    const words = ['server', 'exec', '--', 'true']
    const { ended } = learnctl(words, { env: { TMPDIR: './none' } }, ['sh', '-c', script, 'sh'])
    const { code, stdout, stderr } = await ended
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr:
        'error: Cannot use the temporary directory ./none: it does not exist\n  hint: Set TMPDIR to a directory that you can write to\n',
    })
    expect(stdout).not.toContain('none')
  })

  test('whose backup finds no room names the backup, and leaves nothing', async ({ learnctl }) => {
    const made = learnctl(['courses', 'create', '--title', 'Long', '--description', 'x'.repeat(9_000)])
    expect(await made.ended).toMatchObject({ code: 0 })
    // Files of this process are limited to 64 KiB: writing more fails as on a broken disk.
    const script = 'ulimit -f 128; "$@"; code=$?; ls; exit $code'
    const { ended } = learnctl(['server', 'backup', 'copy.db'], {}, ['sh', '-c', script, 'sh'])
    const { code, stdout, stderr } = await ended
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'error: copy.db cannot be read or written: the disk reports an error\n',
    })
    expect(stdout).not.toContain('copy')
  })

  test('writes megabytes into a pipe as a whole', async ({ learnctl }) => {
    const stdin = JSON.stringify({ title: 'Long', description: 'x'.repeat(9_000), modules: manyModules() })
    const { stdout } = await learnctl(['courses', 'create', '--body', '-', '-o', 'json'], { stdin }).ended
    expect(stdout.length).toBeGreaterThan(100_000)
    expect(JSON.parse(stdout)).toMatchObject({ title: 'Long' })
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
