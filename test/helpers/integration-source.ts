import { expect, onTestFinished } from 'vitest'
import type { LmsKind } from '../../src/contract/constants.ts'
import type { Ran, TestCli } from './cli.ts'
import { type FakeSystem, serveFake } from './fake-system.ts'

/** Serves another system and connects the local academy with it. */
export async function connectTo(
  cli: TestCli,
  kind: LmsKind,
  system: FakeSystem,
  accessToken: string,
): Promise<{ readonly url: string }> {
  const { url, close } = await serveFake(system)
  onTestFinished(close)
  const env = { LMS_TOKEN: accessToken }
  await ran(cli, `integrations set ${kind} --base-url ${url} --access-token-env LMS_TOKEN`, 0, env)
  return { url }
}

/** Runs a line, which is to end with this exit code. */
export async function ran(
  cli: TestCli,
  line: string,
  code = 0,
  env: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  const result = await cli.run(line, { env })
  expect(result.code, `${line}\n${result.stdout}${result.stderr}`).toBe(code)
  return result
}
