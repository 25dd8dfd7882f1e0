import { onTestFinished } from 'vitest'
import type { TestCli } from './cli.ts'
import { googleClient, openFakeClassroom, type ServedClassroom } from './fake-classroom.ts'
import { ran } from './result.ts'

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
