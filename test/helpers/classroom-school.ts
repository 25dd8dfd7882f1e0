import { expect, onTestFinished } from 'vitest'
import type { Ran, RunOptions, TestCli } from './cli.ts'
import { googleClient, openFakeClassroom, type ServedClassroom } from './fake-classroom.ts'

/** Serves a Classroom, and makes an academy use it as if its user had signed in. */
export async function signedIn(cli: TestCli): Promise<ServedClassroom> {
  const fake = await openFakeClassroom()
  onTestFinished(() => fake.close())
  const body = JSON.stringify({
    baseUrl: fake.url,
    tokenUrl: fake.tokenUrl,
    clientId: googleClient.id,
    clientSecret: googleClient.secret,
    refreshToken: googleClient.refreshToken,
  })
  const set = await cli.run('integrations set classroom --body -', { stdin: body })
  expect(set.code, set.stderr).toBe(0)
  return fake
}

/** Runs a command line that must end with this code. */
export async function ran(cli: TestCli, line: string, code = 0, options: RunOptions = {}): Promise<Ran> {
  const result = await cli.run(line, options)
  expect(result.code, result.stdout + result.stderr).toBe(code)
  return result
}
