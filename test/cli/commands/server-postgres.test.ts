import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { type TestCli, test } from '../../helpers/cli.ts'
import { makeDatabase, urlWith, withoutPostgres } from '../../helpers/postgres.ts'
import { serve } from './serving.ts'

const secret = 'n0t-t0-be-sh0wn'
const nowhere = `postgres://ann:${secret}@127.0.0.1:1/school`
const shown = 'postgres://127.0.0.1:1/school'

test.for(['courses list', 'quickstart', 'users create --email a@example.org', 'profiles add school', 'open'])(
  'a command that is no server takes no PostgreSQL database: %s',
  async (line, { cli }) => {
    const { code, stderr, stdout } = await cli.run([...line.split(' '), '--database', nowhere])
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toBe(
      'error: --database must be a SQLite file here: a PostgreSQL database is used through its server\n' +
        '  hint: Serve it with `learnctl server start`, and sign in with `learnctl auth login --url <url>`\n',
    )
  },
)

test('the variable is refused by its name, and doctor goes on', async ({ cli }) => {
  const env = { LEARNCTL_DATABASE: nowhere }
  const list = await cli.run('courses list', { env })
  expect(list.stderr).toContain('LEARNCTL_DATABASE must be a SQLite file here')
  const doctor = await cli.run('doctor', { env })
  expect(doctor.stdout).toContain('LEARNCTL_DATABASE must be a SQLite file here')
  const status = await cli.run('server status -o json', { env })
  expect([status.code, status.stdout]).toEqual([0, '[]\n'])
  for (const { stdout, stderr } of [list, doctor, status]) expect(stdout + stderr).not.toContain(secret)
})

describe('start', () => {
  test.for([
    [
      '--database academy.db --encryption-key-file key',
      '--encryption-key-file requires a PostgreSQL database',
    ],
    [
      `--database ${nowhere} --database-url-file x`,
      '--database and --database-url-file cannot be used together',
    ],
    ['--database-url-file none', 'Cannot read --database-url-file none: not found'],
    [`--database ${nowhere}?sslmod=x`, '--database has an unknown parameter: sslmod'],
    [`--database postgres://ann:${secret}#@db/school`, '--database must be a URL such as postgres://user@'],
    [
      `--database postgres://ann:${secret}@one,two/school`,
      '--database names several hosts: only one is supported',
    ],
  ])('refuses %s', async ([flags, message], { cli }) => {
    const { code, stderr } = await cli.run(`server start --port 0 ${flags}`)
    expect([code, stderr.slice(0, (message ?? '').length + 7)]).toEqual([2, `error: ${message}`])
    expect(stderr).not.toContain(secret)
  })

  test('reports in one line that the connection was refused, with exit code 7', async ({ cli }) => {
    const { code, stderr, stdout } = await cli.run(`server start --port 0 --database ${nowhere}`)
    expect([code, stdout]).toEqual([7, ''])
    expect(stderr).toBe(
      `error: ${shown} cannot be reached: connection refused\n` +
        '  hint: Check the host and port, and that PostgreSQL is running and accepts connections from this machine\n',
    )
    const json = await cli.run(`server start --port 0 -o json --database ${nowhere}`)
    expect(JSON.parse(json.stderr)).toMatchObject({ error: { code: 'database_unreachable', exitCode: 7 } })
    const dry = await cli.run(`server start --dry-run --database ${nowhere}`)
    expect(dry.stderr).toBe(`note: Would serve ${shown} on 127.0.0.1, port 4700\n`)
  })

  test('reads the URL from a file', async ({ cli }) => {
    const file = join(cli.cwd, 'url')
    writeFileSync(file, `${nowhere}\n`)
    chmodSync(file, 0o600)
    const { code, stderr } = await cli.run('server start --port 0 --database-url-file url')
    expect([code, stderr.split('\n')[0]]).toEqual([
      7,
      `error: ${shown} cannot be reached: connection refused`,
    ])
    writeFileSync(file, 'academy.db\n')
    expect((await cli.run('server start --port 0 --database-url-file url')).stderr).toContain(
      '--database-url-file url must contain a URL such as postgres://',
    )
  })
})

describe.skipIf(withoutPostgres !== false)('on the PostgreSQL of LEARNCTL_TEST_POSTGRES', () => {
  /** Starts a server; returns what it prints, and `stop`. */
  async function start(cli: TestCli, flags: string) {
    const { printed, stop } = await serve(cli, `-o json ${flags}`)
    return { ...(JSON.parse(printed) as { url: string; key?: string; database: string }), stop }
  }

  test('an academy is made, served, listed and stopped; its password is nowhere', async ({ cli }) => {
    const database = await makeDatabase()
    const url = urlWith(database.url, { password: secret })
    const place = urlWith(database.url, { username: '', password: '' })
    const server = await start(cli, `--database ${url}`)
    expect(server).toMatchObject({ database: place, key: expect.stringMatching(/^lpk_/) })
    const remote = ['--url', server.url]
    const env = { LEARNCTL_API_KEY: server.key ?? '' }
    const created = await cli.run(['courses', 'create', '--title', 'Marine Biology', '-q', ...remote], {
      env,
    })
    expect(created).toMatchObject({ code: 0, stdout: expect.stringMatching(/^crs_/) })
    const found = await cli.run(
      ['courses', 'list', '--q', 'marine', '-o', 'csv', '--columns', 'title', ...remote],
      {
        env,
      },
    )
    expect(found.stdout).toBe('title\r\nMarine Biology\r\n')
    const status = await cli.run('server status -o json')
    expect(JSON.parse(status.stdout)).toMatchObject([{ url: server.url, database: place }])
    const doctor = await cli.run('doctor')
    expect(doctor.stdout).toContain(`${server.url} serves ${place}`)
    const other = await cli.run('server stop --database postgres://127.0.0.1:1/school')
    expect(other).toMatchObject({ code: 3 })
    const stop = await cli.run(`server stop --dry-run --database ${place}`)
    expect(stop.stderr).toBe(`note: Would stop the server at ${server.url} (${place})\n`)
    const { stdout, stderr } = await server.stop()
    for (const text of [stdout, stderr, status.stdout, doctor.stdout, stop.stderr])
      expect(text).not.toContain(secret)

    const again = await start(cli, `--database ${url}`)
    expect(again.key).toBeUndefined()
    await again.stop()
    await database.remove()
  })

  test('an export and a report are made in threads of their own', async ({ cli }) => {
    const database = await makeDatabase()
    const server = await start(cli, `--database ${database.url}`)
    const env = { LEARNCTL_API_KEY: server.key ?? '', LEARNCTL_URL: server.url }
    await cli.run('courses create --title Biology --external-id BIO --status published', { env })
    const user = await cli.run('users create --email ann@example.org --first-name Ann -q', { env })
    expect(
      await cli.run(`enrollments create --course ext:BIO --user ${user.stdout.trim()}`, { env }),
    ).toMatchObject({ code: 0 })
    const { code, stderr } = await cli.run('analytics export --include-not-started --file learners.csv', {
      env,
    })
    expect([code, stderr]).toEqual([0, expect.stringContaining('learners.csv')])
    expect(readFileSync(join(cli.cwd, 'learners.csv'), 'utf8')).toContain('ann@example.org,Ann,')
    await server.stop()
    await database.remove()
  })
})
