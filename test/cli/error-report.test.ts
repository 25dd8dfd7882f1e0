import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect } from 'vitest'
import type { Transport } from '../../src/contract/http.ts'
import { test as base, type TestCli, testCli } from '../helpers/cli.ts'

const env = { LEARNCTL_URL: 'https://school.example', LEARNCTL_API_KEY: 'key-of-the-environment' }

/** Runs the program with a platform whose requests throw an unexpected error that contains a credential. */
const test = base.extend('broken', async ({ task: _ }, { onCleanup }) => {
  const transport: Transport = async () => {
    throw new TypeError('out of luck', {
      cause: new Error('lpk_secret0123 and key-of-the-environment failed'),
    })
  }
  const cli = testCli({ transport, env })
  onCleanup(() => cli.remove())
  return cli
})

/** Makes every request for courses fail in the server. */
function breakAcademy(cli: TestCli): void {
  const database = new DatabaseSync(join(cli.cwd, 'academy.db'))
  database.exec('pragma foreign_keys = off; drop table courses')
  database.close()
}

const pathIn = (text: string) => / {2}hint: Report this problem with the file (\S+)\n/.exec(text)?.[1] ?? ''

describe('a fault of the program', () => {
  test('is told in one line, and names the file to send', async ({ broken }) => {
    const { code, stdout, stderr } = await broken.run('courses update ext:sea --title Marine --tags=life')
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/^error: Internal error: out of luck\n {2}hint: .+\n$/)
    const path = pathIn(stderr)
    expect(path).toContain(join(broken.home, '.local/state/learnctl/error-reports/'))
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700)
    const report = readFileSync(path, 'utf8')
    expect(report).toMatch(/^learnctl \S+, Node v\S+, \w+ \w+\nTime: 2026-03-01T12:00:00\.000Z\n/)
    expect(report).toContain('Command: learnctl courses update … --title … --tags=…\n')
    expect(report).toMatch(
      /\nTypeError: out of luck\n +at .+\ncaused by Error: \*\*\* and \*\*\* failed\n +at /s,
    )
    for (const secret of ['key-of-the-environment', 'lpk_secret0123', 'Marine', broken.home]) {
      expect(report).not.toContain(secret)
    }
  })

  test('under --debug shows stack and cause, without a credential', async ({ broken }) => {
    const { stderr } = await broken.run('courses list --debug')
    expect(stderr).toMatch(
      /^TypeError: out of luck\n +at .+^caused by Error: \*\*\* and \*\*\* failed\n +at /ms,
    )
    expect(stderr).not.toMatch(/key-of-the-environment|lpk_secret0123/)
  })

  test('is told in JSON as well', async ({ broken }) => {
    const { stderr } = await broken.run('courses list -o json')
    expect(JSON.parse(stderr).error).toMatchObject({
      code: 'unexpected',
      hint: expect.stringContaining('/error-reports/'),
    })
  })

  test('leaves the newest ten files', async ({ broken }) => {
    for (let run = 0; run < 12; run += 1) await broken.run('courses list')
    const directory = join(broken.home, '.local/state/learnctl/error-reports')
    expect(readdirSync(directory)).toHaveLength(10)
  })

  test('is told where no file can be written', async ({ broken }) => {
    writeFileSync(join(broken.home, 'taken'), '')
    const { stderr } = await broken.run('courses list', {
      env: { XDG_STATE_HOME: join(broken.home, 'taken') },
    })
    expect(stderr).toMatch(/^error: Internal error: .+\n {2}hint: Use --debug for the details\n$/)
  })
})

describe('a fault of the academy in this process', () => {
  base('names the file that has what was behind it', async ({ local }) => {
    breakAcademy(local)
    const { code, stderr } = await local.run('courses list')
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /^error: Internal error: no such table: .*courses\n {2}hint: .+\n {2}request id: req_\w+\n$/,
    )
    const [, requestId = ''] = /request id: (\S+)/.exec(stderr) ?? []
    const report = readFileSync(pathIn(stderr), 'utf8')
    expect(report).toContain(`Request id: ${requestId}\n`)
    expect(report).toMatch(/no such table: .*courses\n +at /)
    expect((await local.run('courses list --debug')).stderr).toMatch(
      /caused by .*no such table: .*courses\n +at /,
    )
  })
})

describe('what is no fault of the program', () => {
  base('writes no file', async ({ local }) => {
    for (const line of ['courses get crs_none', 'courses list --limit x', 'coruses']) await local.run(line)
    expect(readdirSync(local.home, { recursive: true })).not.toContain('error-reports')
  })
})
