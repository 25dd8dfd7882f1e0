import { writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { test as base, testCli, transportTo } from '../../../helpers/cli.ts'
import { listen } from '../../../helpers/listen.ts'
import { type SeedServer, startSeedServer } from '../../../helpers/seed-server.ts'

const test = base.extend('seed', async ({ task: _ }, { onCleanup }) => {
  const seed = await startSeedServer()
  onCleanup(() => seed.close())
  return seed
})

const at = ({ url, key }: Pick<SeedServer, 'url' | 'key'>, stdin: string) => ({
  stdin,
  env: { LEARNCTL_URL: url, LEARNCTL_API_KEY: key },
})
const sent = ({ requests }: SeedServer) =>
  requests.filter(({ method }) => method !== 'GET').map(({ method, url }) => `${method} ${url}`)

describe('on a platform of the eight published operations', () => {
  const users = 'email\na@b.example\nb@b.example\n'

  test('users cannot be looked up, which is said before anything is sent; they can be created', async ({
    cli,
    seed,
  }) => {
    for (const flags of ['', '--on-exists skip', '--dry-run']) {
      const ran = await cli.run(`users import - ${flags}`, at(seed, users))
      expect(ran.code).toBe(1)
      expect(ran.stderr.split('\n')).toEqual([
        `error: ${new URL(seed.url).host} cannot look up users, so existing ones cannot be recognised`,
        '  It does not support GET /v1/users; nothing was sent',
        '  hint: Create a new record from each row: --on-exists fail',
        '',
      ])
    }
    expect(sent(seed)).toEqual([])
    const dry = await cli.run('users import - --on-exists fail --dry-run', at(seed, users))
    expect(dry.stdout.match(/create/g)).toHaveLength(2)
    expect(sent(seed)).toEqual([])
    const ran = await cli.run('users import - --on-exists fail', at(seed, users))
    expect(ran, ran.stderr).toMatchObject({ code: 0 })
    expect(ran.stderr).toContain('2 created')
    expect(sent(seed)).toEqual(['POST /v1/users', 'POST /v1/users'])
  })

  test('there are no enrolments, which is said before anything is sent', async ({ cli, seed }) => {
    const ran = await cli.run('enrollments import -', at(seed, 'courseId,userId\n1,2\n'))
    expect(ran.code).toBe(1)
    expect(ran.stderr).toMatch(
      /^error: \S+ cannot look up enrolments, so existing ones cannot be recognised\n/,
    )
    expect(sent(seed)).toEqual([])
  })

  test('courses are recognised in the list, which is read once', async ({ cli, seed }) => {
    const csv = 'externalId,title\nA,Alps\nB,Bays\nC,Capes\n'
    expect((await cli.run('courses import -', at(seed, csv))).stderr).toContain('3 created')
    const before = seed.requests.length
    const ran = await cli.run('courses import -', at(seed, csv.replace('Bays', 'Bights')))
    expect(ran, ran.stderr).toMatchObject({ code: 0 })
    expect(ran.stderr).toContain('1 updated, 2 unchanged')
    const asked = seed.requests.slice(before).map(({ method, url }) => `${method} ${url}`)
    expect(asked.filter((line) => line === 'GET /v1/courses')).toHaveLength(2)
    expect(asked.filter((line) => !line.startsWith('GET'))).toEqual(['PUT /v1/courses/2'])
    const shown = await cli.run('courses list --columns id,title', at(seed, ''))
    expect(shown.stdout).toBe('1\tAlps\n2\tBights\n3\tCapes\n')
  })

  test('rows without an external id are refused, as each import would create them again', async ({
    cli,
    seed,
  }) => {
    const ran = await cli.run('courses import -', at(seed, 'externalId,title\nA,Alps\n,Bays\n'))
    expect(ran.code).toBe(2)
    expect(ran.stderr).toMatch(
      /^error: 1 row has no externalId, by which \S+ could recognise records that exist; nothing was sent\n.*--on-exists fail\n/,
    )
    expect(sent(seed)).toEqual([])
  })

  test('lessons are created, and progress is set', async ({ cli, seed }) => {
    await cli.run('courses import -', at(seed, 'externalId,title\nA,Alps\n'))
    await cli.run('users import - --on-exists fail', at(seed, users))
    const lessons = 'courseId,title\n1,One\n1,Two\n9,Nowhere\n'
    const ran = await cli.run('lessons import - --on-exists fail', at(seed, lessons))
    expect(ran.code).toBe(8)
    expect(ran.stderr).toContain('Imported 2 rows of 3 from standard input: 2 created, 1 failed')
    const progress = 'learnerId,courseId,completionPercentage\n2,1,40\n2,1,60\n'
    const set = await cli.run('progress import -', at(seed, progress))
    expect(set, set.stderr).toMatchObject({ code: 0 })
    expect(set.stderr).toContain('2 updated')
    expect((await cli.run('analytics export --raw', at(seed, ''))).stdout).toContain('2,1,60,')
  })
})

interface Lossy {
  readonly url: string
  readonly key: string
  readonly made: string[]
}

/** A platform without Idempotency-Key that loses the response to the second user it creates. */
const lossy = test.extend('lossy', async ({ task: _ }, { onCleanup }): Promise<Lossy> => {
  const made: string[] = []
  const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
    let text = ''
    for await (const piece of request) text += piece
    if (request.method !== 'POST') return void response.writeHead(404).end()
    made.push(JSON.parse(text).email)
    if (made.length === 2) return void request.socket.destroy()
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ id: '1' }))
  })
  const { url, close } = await listen(server)
  onCleanup(close)
  return { url, key: 'sk-1', made }
})

lossy(
  'what may have been created is reported and not sent twice, where the platform cannot be asked',
  async ({ cli, lossy }) => {
    const csv = 'email\na@b.example\nb@b.example\nc@b.example\n'
    const ran = await cli.run('users import - --on-exists fail', at(lossy, csv))
    expect(ran.code).toBe(8)
    expect(ran.stderr).toContain('2 created, 1 failed')
    expect(lossy.made).toEqual(['a@b.example', 'b@b.example', 'c@b.example'])
  },
)

describe('rows that are sent one by one', () => {
  test('go side by side, but those of one course in the order of the file', { tags: ['slow'] }, async ({
    academy,
  }) => {
    const { key, post } = await academy.person('admin')
    for (const externalId of ['A', 'B']) await post('/v1/courses', { externalId, title: externalId })
    const transport = transportTo(academy)
    let atOnce = 0
    let most = 0
    const cli = testCli({
      transport: async (request) => {
        atOnce += 1
        most = Math.max(most, atOnce)
        await new Promise((resolve) => setImmediate(resolve))
        return transport(request).finally(() => {
          atOnce -= 1
        })
      },
    })
    const rows = Array.from({ length: 40 }, (_, row) => `${row},ext:${'AB'[row % 2]},Lesson ${row}\n`)
    writeFileSync(join(cli.cwd, 'l.csv'), `externalId,courseId,title\n${rows.join('')}`)
    const env = { LEARNCTL_URL: 'https://school.example', LEARNCTL_API_KEY: key }
    expect((await cli.run('lessons import l.csv', { env })).stderr).toContain('40 created')
    expect(most).toBeGreaterThan(1)
    expect(most).toBeLessThanOrEqual(8)
    for (const [index, course] of ['A', 'B'].entries()) {
      const shown = await cli.run(`lessons list --course ext:${course} --all -o json`, { env })
      expect(
        JSON.parse(shown.stdout).map(({ externalId }: { externalId: string }) => Number(externalId)),
      ).toEqual(Array.from({ length: 20 }, (_, row) => row * 2 + index))
    }
    const again = await cli.run('lessons import l.csv', { env })
    expect(again.stderr).toContain('40 unchanged')
    cli.remove()
  })

  test('that are steps of one record are sent in the order of the file', { tags: ['slow'] }, async ({
    academy,
    remote,
  }) => {
    const { key, post, get } = await academy.person('admin')
    await post('/v1/courses', { externalId: 'A', title: 'A', status: 'published' })
    const { id } = await academy.person('learner')
    const steps = Array.from(
      { length: 30 },
      (_, step) => `ext:A,${id},${step},2026-01-${String(step + 1).padStart(2, '0')}\n`,
    )
    const env = { LEARNCTL_URL: 'https://school.example', LEARNCTL_API_KEY: key }
    const stdin = `courseId,learnerId,completionPercentage,lastAccessed\n${steps.join('')}`
    for (const size of [1, 4]) {
      const ran = await remote.run(`progress import - --batch-size ${size}`, {
        env,
        stdin:
          size === 1 ? stdin : stdin.replaceAll('2026-01', '2026-02').replace(/^.*2026-02-(29|30)\n/gm, ''),
      })
      expect(ran.code, ran.stderr).toBe(0)
    }
    const { body } = await get(`/v1/learners/${id}/progress?course_id=ext:A`)
    expect(body.data).toMatchObject([{ completionPercentage: 27 }])
  })
})

test('progress and grades that are there are left alone or refused, also in a dry run', {
  tags: ['slow'],
}, async ({ local }) => {
  await local.run('courses create --title A --external-id A --status published')
  await local.run('users create --email a@b.example --external-id 1')
  await local.run('users create --email b@b.example --external-id 2')
  const files = {
    progress: [
      'courseId,learnerId,completionPercentage',
      'ext:A,ext:1,10',
      'ext:A,ext:2,20',
      'ext:A,ext:2,30',
    ],
    grades: ['courseId,learnerId,scoreGiven', 'ext:A,ext:1,10', 'ext:A,ext:2,20'],
  }
  for (const [noun, [head, first, ...rest]] of Object.entries(files)) {
    await local.run(`${noun} import -`, { stdin: `${head}\n${first}\n` })
    const shown = await local.run(`${noun} export --all-columns`)
    const run = (mode: string, lines: readonly string[], flags = '') =>
      local.run(`${noun} import - --on-exists ${mode} ${flags}`, {
        stdin: `${[head, ...lines].join('\n')}\n`,
      })
    const changed = first?.replace('10', '50') ?? ''
    expect((await run('skip', [changed])).stderr).toContain('1 skipped')
    expect((await run('skip', [changed], '--dry-run')).stderr).toContain('1 skip;')
    expect((await run('fail', [changed], '--dry-run')).code).toBe(8)
    const failed = await run('fail', [changed])
    expect(failed.code, failed.stderr).toBe(8)
    expect(failed.stderr).toContain('1 failed')
    expect((await local.run(`${noun} export --all-columns`)).stdout).toBe(shown.stdout)
    const ran = await run('skip', rest, '--batch-size 1')
    expect(ran.stderr).toContain(rest.length === 1 ? '1 created' : '1 created, 1 skipped')
  }
})

test('rows that are sent one by one may change what a new record could not be', async ({ local }) => {
  await local.run('courses import -', { stdin: 'externalId,title\nA,Alps\nB,Bays\n' })
  await local.run('courses archive ext:A')
  const stdin = 'externalId,title,status,description\nA,Alps,archived,\nB,,,By the sea\n'
  const ran = await local.run('courses import -', { stdin })
  expect(ran, ran.stderr).toMatchObject({ code: 0 })
  expect(ran.stderr).toContain('1 updated, 1 unchanged')
})
