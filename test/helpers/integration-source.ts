import { onTestFinished } from 'vitest'
import type { LmsKind } from '../../src/contract/constants.ts'
import type { TestCli } from './cli.ts'
import { googleClient, openFakeClassroom, type ServedClassroom } from './fake-classroom.ts'
import { type FakeSystem, serveFake } from './fake-system.ts'
import { ran } from './result.ts'

/** Serves another system and connects the local academy with it. */
export async function connectTo(
  cli: TestCli,
  kind: LmsKind,
  system: FakeSystem,
  accessToken: string,
): Promise<{ readonly url: string }> {
  const { url, close } = await serveFake(system)
  onTestFinished(close)
  await ran(cli, `integrations set ${kind} --base-url ${url} --access-token-stdin`, 0, { stdin: accessToken })
  return { url }
}

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
  await ran(cli, 'integrations set classroom --body -', 0, { stdin: body })
  return fake
}
