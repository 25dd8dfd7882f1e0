import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import sql, { raw } from 'sql-template-tag'
import { afterAll, describe, expect, test } from 'vitest'
import { type Database, DatabaseError, schemaVersion } from '../../../../src/server/database/database.ts'
import { openPostgres } from '../../../../src/server/database/postgres/open-postgres.ts'
import type { PostgresOptions } from '../../../../src/server/database/postgres/reach-postgres.ts'
import { freshDirectory } from '../../../helpers/academy.ts'
import { makeCertificate } from '../../../helpers/certificate.ts'
import { listen } from '../../../helpers/listen.ts'
import {
  asSuperuser,
  makeAcademyDatabase,
  makeDatabase,
  postgresUrl,
  startPostgresProxy,
  steps,
  urlWith,
  withoutPostgres,
} from '../../../helpers/postgres.ts'

/** A home without a password file and certificates. */
const { path: home, remove } = freshDirectory()
const secret = 'n0t-t0-be-sh0wn'
const role = `role_${randomUUID().slice(0, 8)}`
const certificate = makeCertificate()

async function open(url: string, options: Partial<PostgresOptions> = {}): Promise<string> {
  try {
    const { store, created } = await openPostgres({ url, env: {}, home, ...options }, steps)
    await store.one(sql`select 1 as one`)
    await store.close()
    return created ? 'created' : 'opened'
  } catch (error) {
    expect(error).toBeInstanceOf(DatabaseError)
    const { path, message, hint, kind } = error as DatabaseError
    expect(`${path} ${message} ${hint}`).not.toContain(secret)
    return [`${kind}: ${path} ${message}`, ...(hint === undefined ? [] : [hint])].join('\nhint: ')
  }
}

afterAll(async () => {
  remove()
  if (withoutPostgres === false) await asSuperuser([`drop role if exists ${role}`]).catch(() => undefined)
})

describe('an unreachable database is reported in one line, with a hint', () => {
  const check =
    'hint: Check the host and port, and that PostgreSQL is running and accepts connections from this machine'

  test('a port without a server', async () => {
    expect(await open(`postgres://ann:${secret}@127.0.0.1:1/school`)).toBe(
      `unreachable: postgres://127.0.0.1:1/school cannot be reached: connection refused\n${check}`,
    )
  })

  test('a socket that is not there', async () => {
    expect(await open(`postgres://ann:${secret}@/school?host=${home}`)).toBe(
      `unreachable: postgres:///school?host=${home} cannot be reached: no socket there\n${check}`,
    )
  })

  test.for([
    ['does not answer', () => undefined, 'cannot be reached: timed out', 100],
    ['hangs up', (end: () => void) => end(), 'closed the connection', 60_000],
  ] as const)('a server that %s', async ([, act, message, waitMs]) => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined)
      act(() => socket.destroy())
    })
    const { port } = await listen(server)
    const result = await open(`postgres://ann:${secret}@127.0.0.1:${port}/school?sslmode=disable`, {
      waitMs,
    })
    expect(result).toContain(`unreachable: postgres://127.0.0.1:${port}/school ${message}`)
    server.close()
  })

  test('a server of something else', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined)
      socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')
    })
    const { port } = await listen(server)
    const url = `postgres://ann:${secret}@127.0.0.1:${port}/school`
    expect(await open(`${url}?sslmode=require`)).toContain('does not answer as PostgreSQL does')
    expect(await open(`${url}?sslmode=disable`)).toContain('closed the connection')
    server.close()
  })

  test.for([
    ['sslmode=always', 'has an unknown sslmode: always', 'Use one of: disable, allow, prefer, require'],
    [
      'sslmode=verify-full',
      `requires a root certificate in ${home}/.postgresql/root.crt`,
      'sslrootcert=system',
    ],
    ['sslrootcert=system&sslmode=require', 'sslrootcert=system, which requires sslmode=verify-full', ''],
    ['sslmode=require&sslrootcert=/none.crt', '/none.crt cannot be read (ENOENT)', ''],
    ['connect_timeout=soon', 'has a connect_timeout that is not a whole number of seconds', ''],
  ] as const)('%s', async ([query, message, hint]) => {
    const result = await open(`postgres://ann:${secret}@127.0.0.1:1/school?${query}`)
    expect(result).toContain(message)
    expect(result).toContain(hint)
  })
})

describe.skipIf(withoutPostgres !== false)('on the PostgreSQL of LEARNCTL_TEST_POSTGRES', () => {
  let made: Promise<void> | undefined
  /** URL of this database for a user who needs a password. */
  const asRole = async (url: string, password = secret) => {
    made ??= asSuperuser([`create role ${role} login password '${secret}'`])
    await made
    return urlWith(url, { username: role, password })
  }

  test('an empty database becomes an academy, once, however many servers start at the same time', async () => {
    const database = await makeDatabase()
    const answers = await Promise.all(Array.from({ length: 4 }, () => open(database.url)))
    expect(answers.sort()).toEqual(['created', 'opened', 'opened', 'opened'])
    expect(await open(database.url)).toBe('opened')
    await database.remove()
  })

  test('a step that fails leaves nothing of itself behind', async () => {
    const database = await makeDatabase()
    const failing = [
      ...steps,
      {
        from: schemaVersion,
        to: schemaVersion + 1,
        run: async ({ run }: Database) => {
          await run(sql`create table half (id bigint)`)
          throw new Error('in the middle')
        },
      },
    ]
    await expect(openPostgres({ url: database.url, env: {}, home }, failing)).rejects.toThrow('in the middle')
    expect(await open(database.url)).toBe('opened')
    await database.remove()
  })

  test('a database of a newer version, and one of another program, are refused as they are', async () => {
    const database = await makeAcademyDatabase()
    await asSuperuser(['update schema_version set version = 99'], database.url)
    expect(await open(database.url)).toContain(
      `written by a newer version of learnctl (schema version 99; this version supports up to ${schemaVersion})`,
    )
    await asSuperuser([`update schema_version set program = 'flyway'`], database.url)
    const another =
      /^unusable: \S+ is a PostgreSQL database of another program\nhint: Create one for learnctl alone/
    expect(await open(database.url)).toMatch(another)
    await asSuperuser(['drop table schema_version', 'create table schema_version (id integer)'], database.url)
    expect(await open(database.url)).toMatch(another)
    await database.remove()
  })

  test('a wrong password, no password, an unknown role and an unknown database', async () => {
    const unknown = urlWith(postgresUrl, { pathname: 'no_such_database' })
    expect(await open(unknown)).toMatch(
      /^unusable: \S+ does not exist: database "no_such_database" does not exist/,
    )
    expect(await open(await asRole(postgresUrl, 'wrong'))).toMatch(
      /^refused: \S+ refuses the password: password authentication failed for user "role_\w+"\nhint: Set PGPASSWORD/,
    )
    const without = await asRole(postgresUrl, '')
    expect(await open(without)).toContain(
      `requires a password\nhint: Set PGPASSWORD, put it in the URL, or add a line to ${home}/.pgpass`,
    )
    expect(await open(urlWith(postgresUrl, { username: 'nobody', password: secret }))).toContain('refused: ')
  })

  test('the password is taken from the URL, PGPASSWORD or a password file', async () => {
    const database = await makeDatabase()
    const url = await asRole(database.url)
    await asSuperuser([`grant all on database ${database.name} to ${role}`])
    await asSuperuser([`grant all on schema public to ${role}`], database.url)
    const without = urlWith(url, { password: '' })
    const file = join(home, 'passwords')
    writeFileSync(file, `*:*:*:${role}:${secret}`, { mode: 0o600 })
    expect(await open(url)).toBe('created')
    expect(await open(without, { env: { PGPASSWORD: secret } })).toBe('opened')
    expect(await open(without, { env: { PGPASSFILE: file } })).toBe('opened')
    expect(await open(`${without}?passfile=${file}`)).toBe('opened')
    writeFileSync(join(home, '.pgpass'), `*:*:*:*:${secret}`, { mode: 0o644 })
    expect(await open(without)).toContain(`requires a password; ${home}/.pgpass can be read by others`)
    await database.remove()
  })

  test('no right to make tables, a read-only database, another encoding, and no connection left', async () => {
    const database = await makeDatabase()
    const url = await asRole(database.url)
    await asSuperuser(['revoke create on schema public from public'], database.url)
    expect(await open(url)).toMatch(
      /^unusable: \S+ does not allow this user to create tables: permission denied/,
    )
    await asSuperuser([`alter role ${role} connection limit 0`])
    expect(await open(url)).toMatch(
      /^unreachable: \S+ takes no more connections: too many connections for role/,
    )
    await asSuperuser([`alter role ${role} connection limit -1`])
    await asSuperuser([`alter database ${database.name} set default_transaction_read_only = on`])
    expect(await open(database.url)).toMatch(/^unusable: \S+ is read-only/)
    await database.remove()
    const other = `latin_${role}`
    await asSuperuser([`create database ${other} encoding 'LATIN1' locale 'C' template template0`])
    expect(await open(urlWith(postgresUrl, { pathname: other }))).toContain(
      'has the encoding LATIN1; UTF8 is required',
    )
    await asSuperuser([`drop database ${other}`])
  })

  test('a standby, fewer connections than the pool has, and a server that has no time', async () => {
    const database = await makeDatabase()
    const alter = `alter database ${database.name}`
    expect(await open(database.url, { poolSize: 5000 })).toMatch(
      /^unusable: \S+ takes at most \d+ connections, from all servers together; each keeps up to 5000\nhint: Raise/,
    )
    // A database that reports to be a standby.
    await asSuperuser(
      [
        'create schema standby',
        `create function standby.pg_is_in_recovery() returns boolean language sql as 'select true'`,
        `${alter} set search_path = standby, pg_catalog`,
      ],
      database.url,
    )
    expect(await open(database.url)).toMatch(
      /^unusable: \S+ is a read-only standby\nhint: Use the address of the primary/,
    )
    await asSuperuser([`${alter} reset search_path`, `${alter} set statement_timeout = '1ms'`])
    // "user request" where the time was over between two statements.
    expect(await open(database.url)).toMatch(
      /^unreachable: \S+ took too long to answer: canceling statement due to (?:statement timeout|user request)\nhint: Try again/,
    )
    await database.remove()
  })

  test('an extension that may not be added, and one that is not installed', async () => {
    const database = await makeAcademyDatabase()
    const url = await asRole(database.url)
    await asSuperuser([`grant select, update on schema_version to ${role}`], database.url)
    const adding = (extension: string): Promise<unknown> => {
      const step = {
        from: schemaVersion,
        to: schemaVersion + 1,
        run: async ({ run }: Database) => {
          await run(raw(`create extension ${extension}`))
        },
      }
      return openPostgres({ url: extension === 'hstore' ? url : database.url, env: {}, home }, [
        ...steps,
        step,
      ])
    }
    await expect(adding('hstore')).rejects.toMatchObject({
      kind: 'unusable',
      message: 'requires the extension hstore',
      hint: 'Have its owner run `create extension hstore` in it, or grant this user `create` on the database',
    })
    await expect(adding('no_such_thing')).rejects.toMatchObject({
      message: 'requires the extension no_such_thing',
      hint: 'Install the extensions that come with PostgreSQL, such as the package postgresql-contrib',
    })
    await database.remove()
  })

  test('the socket of this machine is reached by its folder', async () => {
    const database = await makeDatabase()
    const { port, username } = new URL(database.url)
    const { store } = await openPostgres({ url: database.url, env: {}, home }, steps)
    const folder = await store.one(sql`select current_setting('unix_socket_directories') as folder`)
    await store.close()
    const url = `postgres://${username}@/${database.name}?host=${folder?.['folder']}&port=${port}`
    expect(await open(url)).toBe('opened')
    await database.remove()
  })

  test('sslmode decides whether a connection is encrypted, and whose word on the server counts', async () => {
    const database = await makeAcademyDatabase()
    const trusted = join(home, 'trusted.crt')
    writeFileSync(trusted, certificate.cert)
    const stranger = join(home, 'stranger.crt')
    writeFileSync(stranger, makeCertificate().cert)
    const notTrusted =
      /^unreachable: \S+ has a certificate that is not trusted\nhint: Name the root certificate/
    // Offered TLS, sslmode, result, and whether it was encrypted.
    const cases = [
      ['both', 'sslmode=disable', 'opened', false],
      ['both', 'sslmode=allow', 'opened', false],
      ['both', '', 'opened', true],
      ['both', 'sslmode=require', 'opened', true],
      ['both', `sslmode=require&sslrootcert=${stranger}`, notTrusted, true],
      ['both', `sslmode=verify-ca&sslrootcert=${trusted}`, 'opened', true],
      ['both', `sslmode=verify-full&sslrootcert=${trusted}`, 'opened', true],
      ['both', `sslmode=verify-full&sslrootcert=${stranger}`, notTrusted, true],
      ['both', 'sslrootcert=system', notTrusted, true],
      ['plain', 'sslmode=prefer', 'opened', false],
      ['plain', 'sslmode=require', /^unreachable: \S+ does not support TLS\nhint: /, false],
      ['tls', 'sslmode=allow', 'opened', true],
      ['tls', 'sslmode=disable', /^unreachable: \S+ closed the connection/, false],
    ] as const
    for (const [served, query, expected, isEncrypted] of cases) {
      await using front = await startPostgresProxy(database.url, {
        ...(served !== 'plain' && { tls: certificate }),
        only: served === 'tls',
      })
      const result = await open(`${front.url}?${query}`)
      expect([served, query, result]).toEqual([
        served,
        query,
        typeof expected === 'string' ? expected : expect.stringMatching(expected),
      ])
      expect([served, query, front.wasEncrypted()]).toEqual([served, query, isEncrypted])
    }
    await database.remove()
  })

  test('a certificate for another host is refused by verify-full, and taken by verify-ca', async () => {
    const database = await makeAcademyDatabase()
    await using front = await startPostgresProxy(database.url, { tls: certificate, host: '127.0.0.2' })
    const trusted = join(home, 'trusted.crt')
    writeFileSync(trusted, certificate.cert)
    expect(await open(`${front.url}?sslmode=verify-full&sslrootcert=${trusted}`)).toContain(
      'has a certificate for another host\nhint: Use the host name in the certificate, or sslmode=verify-ca',
    )
    expect(await open(`${front.url}?sslmode=verify-ca&sslrootcert=${trusted}`)).toBe('opened')
    await database.remove()
  })
})
