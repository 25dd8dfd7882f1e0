import { join } from 'node:path'
import { expect } from 'vitest'
import type { UpgradeProgress } from '../../../src/server/academy/upgrade-in-process.ts'
import { newCredential } from '../../../src/server/access/secret.ts'
import { freePort } from '../../helpers/free-port.ts'
import { lockForWriting, makeOldAcademy } from '../../helpers/old-academy.ts'
import { onPostgres } from '../../helpers/test-academy.ts'
import { startServer, test } from './served.ts'

test.skipIf(onPostgres)(
  'a server that upgrades a large academy says that it is up, but not ready, every so often how far it is, and then serves',
  { tags: ['slow'] },
  async ({ directory }) => {
    const path = join(directory, 'academy.db')
    makeOldAcademy(path)
    const writer = lockForWriting(path)
    const port = await freePort()
    const progress: UpgradeProgress[] = []
    const twice = Promise.withResolvers<void>()
    const starting = startServer(path, {
      port,
      adminKey: true,
      upgrade: {
        largeBytes: 0,
        everyMs: 10,
        signal: new AbortController().signal,
        onProgress: async (told) => {
          progress.push(told)
          if (progress.length === 2) twice.resolve()
        },
      },
    })
    await twice.promise
    expect(progress).toMatchObject([
      { step: 1, steps: 7 },
      { step: 1, steps: 7 },
    ])
    const address = `http://127.0.0.1:${port}`
    expect((await fetch(`${address}/health`)).status).toBe(200)
    expect((await fetch(`${address}/ready`)).status).toBe(503)
    const listed = await fetch(`${address}/v1/courses`, {
      headers: { authorization: `Bearer ${newCredential('apiKey')}` },
    })
    expect(listed.status).toBe(503)
    expect(listed.headers.get('retry-after')).toBe('10')
    expect(await listed.json()).toMatchObject({
      detail: 'The academy is being upgraded for this version of the server.',
    })
    writer.close()
    const served = await starting
    expect((await served.fetch('/ready')).status).toBe(200)
    expect((await served.fetch('/v1/courses')).status).toBe(200)
    await served.stop()
  },
)
