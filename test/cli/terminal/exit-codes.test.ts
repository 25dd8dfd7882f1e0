import { expect } from 'vitest'
import { exitCode, exitCodes, InterruptedError } from '../../../src/cli/terminal/errors.ts'
import type { TestAcademy } from '../../helpers/academy.ts'
import { type TestCli, test } from '../../helpers/cli.ts'

/** A run for each line of the table, in a local academy unless it needs a platform. */
const reached: Readonly<
  Record<keyof typeof exitCodes, (local: TestCli, school: School) => ReturnType<TestCli['run']>>
> = {
  ok: (local) => local.run('courses list'),
  failure: (local) => local.run('api PUT /v1/courses'),
  usage: (local) => local.run('courses create --title Go --passing-score 101'),
  notFound: (local) => local.run('courses get crs_none'),
  auth: (local) => local.run('courses list', { env: { LEARNCTL_DATABASE: '' } }),
  forbidden: async (_, { remote, academy }) => {
    const env = {
      LEARNCTL_URL: 'https://school.example',
      LEARNCTL_API_KEY: (await academy.person('learner')).key,
    }
    return remote.run('courses create --title Go', { env })
  },
  conflict: async (local) => {
    await local.run('courses create --title Go --external-id go')
    return local.run('courses update ext:go --title Went --if-version 9')
  },
  unavailable: (local) => local.run('courses list', { env: { ...elsewhere, LEARNCTL_RETRIES: '0' } }),
  partial: (local) => local.run('api users.batch --body -', { stdin: JSON.stringify(batch) }),
  drift: async (local) => {
    await local.run('courses create --title Go --external-id go')
    await local.run('courses update ext:go --title Went')
    return local.run('courses diff ext:go 1')
  },
  notRun: (local) => local.run('server exec -- /'),
  noCommand: (local) => local.run('server exec -- none-of-this-name'),
  interrupted: (local) => local.run('courses list', { signal: aborted('SIGINT') }),
  terminated: (local) => local.run('courses list', { signal: aborted('SIGTERM') }),
}

/** A platform with its users. */
interface School {
  readonly remote: TestCli
  readonly academy: TestAcademy
}

const elsewhere = { LEARNCTL_DATABASE: '', LEARNCTL_URL: 'http://127.0.0.1:9', LEARNCTL_API_KEY: 'key' }
const batch = { items: [{ email: 'ada@example.org' }, { email: 'nobody' }, {}] }

function aborted(signal: 'SIGINT' | 'SIGTERM'): AbortSignal {
  return AbortSignal.abort(new InterruptedError(signal))
}

test.for(Object.keys(exitCodes) as (keyof typeof exitCodes)[])(
  'exit code %s of the table is reached',
  async (name, { local, remote, academy }) => {
    expect((await reached[name](local, { remote, academy })).code).toBe(exitCode(name))
  },
)
