import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { startServer, test } from './served.ts'

test.for([
  [{}, 'ok'],
  [{ publicUrl: 'http://localhost:8080' }, 'ok'],
  [{ allowHosts: ['127.0.0.1'] }, 'ok'],
  [{ publicUrl: 'https://school.example' }, 'failed'],
  [{ allowHosts: ['school.example'] }, 'failed'],
  [{ trustedProxies: ['127.0.0.1'] }, 'failed'],
] as const)(
  'served with %j, a connection to this machine is %s',
  async ([options, status], { directory }) => {
    const other = createServer((_, response) => response.end('{}')).listen(0, '127.0.0.1')
    onTestFinished(() => void other.close())
    const served = await startServer(join(directory, 'academy.db'), options)
    onTestFinished(served.stop)
    const call = (method: string, path: string, body?: object) =>
      served.fetch(path, {
        method,
        headers: { authorization: `Bearer ${served.key}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      })
    const { port } = other.address() as AddressInfo
    const set = await call('PUT', '/v1/integrations/moodle', { baseUrl: `http://127.0.0.1:${port}` })
    expect(set.status).toBe(200)
    const { checks } = (await (await call('POST', '/v1/integrations/moodle/test')).json()) as {
      checks: { name: string; status: string }[]
    }
    expect(checks.find(({ name }) => name === 'connection')).toMatchObject({ status })
  },
)
