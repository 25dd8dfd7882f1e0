import { join } from 'node:path'
import { openAcademy } from '../../src/server/academy/local-academy.ts'
import { benchXapi } from './connect-xapi.ts'
import { loadTool } from './load.ts'
import { compareInTurn, serveAcademy } from './measure.ts'
import { benchPull } from './pull.ts'
import { atLeast, type BenchRow } from './row.ts'
import { makeKey, post } from './seed.ts'

const rounds = 5
const seconds = 3
const connections = 16
const learners = 2_000

/** Measures how other systems read an academy and are read: a part for each system. */
export async function benchConnect(bin: string, directory: string): Promise<BenchRow[]> {
  return [
    await benchOneRoster(bin, directory),
    await benchPull(bin, directory),
    ...(await benchXapi(bin, directory)),
  ]
}

/** Compares a list of 100 users over OneRoster with that of the API, alternately and with the same load. */
async function benchOneRoster(bin: string, directory: string): Promise<BenchRow> {
  const path = join(directory, 'oneroster.db')
  const academy = await openAcademy({ path })
  for (let first = 0; first < learners; first += 500) {
    const items = Array.from({ length: 500 }, (_, index) => ({
      email: `learner${first + index}@example.org`,
      profile: { firstName: `Ada ${first + index}`, lastName: 'Lovelace' },
    }))
    await post(academy, '/v1/users/batch', { items })
  }
  const key = await makeKey(academy)
  const app = await post(academy, '/v1/apps', { name: 'Roster', machineScopes: ['roster.readonly'] })
  await academy.close()
  const server = await serveAcademy(bin, path, directory)
  const tool = loadTool(directory)
  try {
    const token = await tokenFor(server.url, String(app['clientId']), String(app['clientSecret']))
    const perSecond = (credential: string, target: string) =>
      tool.perSecond({
        ...{ method: 'GET', url: server.url, requests: [{ path: target }], connections, seconds },
        headers: { authorization: `Bearer ${credential}` },
      })
    const { mine, theirs, ratio } = await compareInTurn(
      rounds,
      () => perSecond(token, '/ims/oneroster/rostering/v1p2/users?limit=100'),
      () => perSecond(key, '/v1/users?limit=100'),
    )
    return {
      figure: 'connect: OneRoster list of 100 users over /v1/users',
      value: ratio,
      ...atLeast(0.5),
      from: `${mine.toFixed(0)}/s over ${theirs.toFixed(0)}/s, ${learners} users, ${tool.name}, ${connections} connections, ${rounds} × ${seconds} s`,
    }
  } finally {
    await server.stop()
  }
}

async function tokenFor(url: string, clientId: string, clientSecret: string): Promise<string> {
  const response = await fetch(`${url}/oauth/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  })
  const { access_token: token } = (await response.json()) as { access_token?: string }
  if (token === undefined) throw new Error(`No token: HTTP ${response.status}`)
  return token
}
