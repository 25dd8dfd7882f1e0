import { join } from 'node:path'
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

describe('a fault of the program', () => {
  test('is told in one line', async ({ broken }) => {
    expect(await broken.run('courses update ext:sea --title Marine --tags=life')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'error: Internal error: out of luck\n  hint: Use --debug for the details\n',
    })
    const { stderr } = await broken.run('courses list -o json')
    expect(JSON.parse(stderr).error).toMatchObject({ code: 'unexpected' })
  })

  test('under --debug shows stack and cause, without a credential', async ({ broken }) => {
    const { stderr } = await broken.run('courses list --debug')
    expect(stderr).toMatch(
      /^TypeError: out of luck\n +at .+^caused by Error: \*\*\* and \*\*\* failed\n +at /ms,
    )
    expect(stderr).not.toMatch(/key-of-the-environment|lpk_secret0123/)
  })
})

base('a fault of the academy in this process is told with what was behind it', async ({ local }) => {
  breakAcademy(local)
  const { code, stderr } = await local.run('courses list')
  expect(code).toBe(1)
  expect(stderr).toMatch(
    /^error: Internal error: no such table: .*courses\n {2}hint: .+\n {2}request id: req_\w+\n$/,
  )
  expect((await local.run('courses list --debug')).stderr).toMatch(
    /caused by .*no such table: .*courses\n +at /,
  )
})
