import { userInfo } from 'node:os'
import { expect, test } from 'vitest'
import { isDatabaseUrl, PostgresUrlError, readPostgresUrl } from '../../src/codec/database-url.ts'

const own = userInfo().username

function read(url: string, env: Record<string, string> = {}) {
  const { host, port, database, user, password } = readPostgresUrl(url, env)
  return { host, port, database, user, password }
}

function refusal(url: string): string {
  try {
    readPostgresUrl(url, {})
    return 'read'
  } catch (error) {
    expect(error).toBeInstanceOf(PostgresUrlError)
    const { message, hint } = error as PostgresUrlError
    return `${message}\n${hint ?? ''}`
  }
}

test.for([
  ['postgres://ann:s3cret@db.example.org:6543/school', ['db.example.org', 6543, 'school', 'ann', 's3cret']],
  ['postgresql://db.example.org/school', ['db.example.org', 5432, 'school', own, undefined]],
  ['  postgres://ann@db.example.org\n', ['db.example.org', 5432, 'ann', 'ann', undefined]],
  ['postgres://ann:a%40b%2Fc%23%25@h/d%20b', ['h', 5432, 'd b', 'ann', 'a@b/c#%']],
  ['postgres://[::1]:5433/school', ['::1', 5433, 'school', own, undefined]],
  ['postgres://%2Fvar%2Frun%2Fpg/school', ['/var/run/pg', 5432, 'school', own, undefined]],
  ['postgres:///school?host=/tmp/pg&port=5433&user=ann', ['/tmp/pg', 5433, 'school', 'ann', undefined]],
  [
    'postgres://ann:s3cret@/school?host=/cloudsql/a:b:c',
    ['/cloudsql/a:b:c', 5432, 'school', 'ann', 's3cret'],
  ],
] as const)('%s is read as libpq reads it', ([url, [host, port, database, user, password]]) => {
  expect(read(url)).toEqual({ host, port, database, user, password })
})

test('missing parts of the URL come from the variables of libpq', () => {
  const env = {
    PGHOST: 'db.example.org',
    PGPORT: '6543',
    PGDATABASE: 'school',
    PGUSER: 'ann',
    PGPASSWORD: 's3cret',
    PGSSLMODE: 'require',
    PGAPPNAME: '',
  }
  expect(read('postgres://', env)).toEqual({
    host: 'db.example.org',
    port: 6543,
    database: 'school',
    user: 'ann',
    password: 's3cret',
  })
  expect(read('postgres://eve:own@other:1/db', env)).toMatchObject({
    host: 'other',
    password: 'own',
    user: 'eve',
  })
  const { parameter } = readPostgresUrl('postgres://h/d?connect_timeout=3', env)
  expect([parameter('sslmode'), parameter('connect_timeout'), parameter('application_name')]).toEqual([
    'require',
    '3',
    undefined,
  ])
})

test.for([
  ['postgres://ann:s3cret@db.example.org/school?sslmode=require', 'postgres://db.example.org:5432/school'],
  ['postgres://ann:s3cret@[::1]/school', 'postgres://[::1]:5432/school'],
  ['postgres://ann:s3cret@/school?host=/tmp/pg', 'postgres:///school?host=/tmp/pg'],
])('%s is shown without user and password', ([url, shown]) => {
  expect(readPostgresUrl(url ?? '', {}).shown).toBe(shown)
})

test.for([
  ['postgres://ann:s3cr#et@db.example.org/school', 'must be a URL such as', 'Percent-encode'],
  ['postgres://ann:s3cr/et@db.example.org/school', 'must be a URL such as', 'Percent-encode'],
  ['postgres://ann:5432/s3cret@db.example.org/school', 'must be a URL such as', 'Percent-encode'],
  [
    'postgres://ann:5432?s3cret@db.example.org/school',
    'has an unknown parameter',
    'Supported parameters: host',
  ],
  ['postgres://ann:s3cr%et@db.example.org/school', 'has a % that is not followed', 'as %25'],
  [
    'postgres://ann:s3cret@one:1,two:2/school',
    'names several hosts: only one is supported',
    'Use the address',
  ],
  ['postgres://ann:s3cret@host:99999/school', 'must be a URL such as', 'Percent-encode'],
  ['postgres://ann:s3cret@host/school?port=none', 'must have a port from 1 to 65535, not none', ''],
  [
    'postgres://ann:s3cret@host/school?chanel_binding=x',
    'has an unknown parameter: chanel_binding',
    'Supported',
  ],
  ['mysql://ann:s3cret@host/school', 'must be a URL such as postgres://', ''],
])('%s is refused, and nothing of the password is told', ([url, message, hint]) => {
  const told = refusal(url ?? '')
  expect(told).toContain(message)
  expect(told).toContain(hint)
  expect(told).not.toMatch(/s3cr/)
})

test('a path is no URL, whatever it is called, and a broken URL is no path', () => {
  expect(['./academy.db', '/var/postgres/a.db', 'postgres.db', 'postgres:a.db'].some(isDatabaseUrl)).toBe(
    false,
  )
  expect(['postgres://', 'PostgreSQL://h', ' postgres://u:p#x@h'].every(isDatabaseUrl)).toBe(true)
})
