import { describe, expect, onTestFinished } from 'vitest'
import type { HttpRequest, HttpResponse, Transport } from '../../../src/contract/http.ts'
import { test, testCli, transportTo } from '../../helpers/cli.ts'
import { startSeedServer } from '../../helpers/seed-server.ts'
import { canvas, moodle, oneRoster, put, smallSchool } from './write-rosters.ts'

const formats = { OneRoster: oneRoster, Canvas: canvas, Moodle: moodle }

describe('a platform of the eight published operations', () => {
  test.for(Object.entries(formats))(
    'takes the courses of %s once, and is told what it cannot show',
    async ([, format], { cli }) => {
      const server = await startSeedServer()
      onTestFinished(() => server.close())
      const env = { LEARNCTL_URL: server.url, LEARNCTL_API_KEY: server.key }
      put(cli, 'school', format(smallSchool))
      for (const equal of ['first', 'second']) {
        const ran = await cli.run('roster apply school --yes', { env })
        expect(ran.code, `${equal}: ${ran.stderr}`).toBe(9)
        expect(ran.stdout).toContain('courses: 2 of 2 equal\n')
        expect(ran.stdout).toContain('users: not compared, the platform does not list them\n')
        expect(ran.stdout).toContain('enrollments: not compared, the platform does not list them\n')
        expect(ran.stderr).toContain('Not all of the roster can be compared with the platform')
      }
      const writes = server.requests.filter(({ method }) => !['GET', 'OPTIONS'].includes(method))
      expect(writes.map(({ method, url }) => `${method} ${url}`)).toEqual([
        'POST /v1/courses',
        'POST /v1/courses',
      ])
    },
  )
})

async function textOf({ body }: HttpResponse): Promise<string> {
  const pieces: Uint8Array[] = []
  if (body === null || typeof body === 'string' || body instanceof Uint8Array) return String(body)
  for await (const piece of body) pieces.push(Buffer.from(piece))
  return Buffer.concat(pieces).toString()
}

/** Confirms all enrolments of a batch, but carries out all except the last one. */
function losing(transport: Transport): Transport {
  return async (request: HttpRequest) => {
    if (!request.url.endsWith('/v1/enrollments/batch')) return transport(request)
    const sent = JSON.parse(String(request.body))
    const kept = { ...sent, items: sent.items.slice(0, -1) }
    const response = await transport({ ...request, body: JSON.stringify(kept) })
    const answer = JSON.parse(await textOf(response))
    const last = { index: kept.items.length, status: 201, id: 'enr_lost' }
    return { ...response, body: JSON.stringify({ results: [...answer.results, last] }) }
  }
}

test('what a platform confirms and does not keep is found at the end', { tags: ['slow'] }, async ({
  academy,
}) => {
  const { key } = await academy.person('admin')
  const env = { LEARNCTL_URL: 'https://school.example', LEARNCTL_API_KEY: key }
  const cli = testCli({ transport: losing(transportTo(academy)), env })
  onTestFinished(() => cli.remove())
  put(cli, 'school', oneRoster(smallSchool))
  const { code, stdout, stderr } = await cli.run('roster apply school --yes')
  expect(code, stderr).toBe(9)
  expect(stdout).toContain('users: 3 of 3 equal\n')
  expect(stdout).toContain('enrollments: 3 of 4 equal: 1 missing\n')
  expect(stderr).toContain(
    'error: 1 record still differs from the roster\n  Enrolment ext:che, ext:bob, learner: missing\n',
  )
})

test('a server takes a roster over the network as an academy in this process does', {
  tags: ['slow'],
}, async ({ remote, academy }) => {
  const { key } = await academy.person('admin')
  const env = { LEARNCTL_URL: 'https://school.example', LEARNCTL_API_KEY: key }
  put(remote, 'school', oneRoster(smallSchool))
  const first = await remote.run('roster apply school --yes', { env })
  expect(first, first.stderr).toMatchObject({ code: 0 })
  expect(await remote.run('roster apply school --yes', { env })).toEqual({ code: 0, stdout: '', stderr: '' })
})
