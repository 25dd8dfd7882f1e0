import { join } from 'node:path'
import sql, { raw } from 'sql-template-tag'
import { describe, expect, test as standard } from 'vitest'
import { openAcademyFile, openAcademyOnPostgres } from '../../src/server/academy.ts'
import { attemptsIn } from '../../src/server/access/attempts.ts'
import { differingCounters } from '../../src/server/counters/counter-check.ts'
import { clockAheadMs } from '../../src/server/database/clock.ts'
import { makeFirstSecrets } from '../../src/server/socket/first-secrets.ts'
import { keepInOrder } from '../../src/server/upkeep.ts'
import {
  freshDirectory,
  hour,
  minute,
  openTestAcademy,
  passwordCost,
  stoppedClock,
  type TestAcademy,
} from '../helpers/academy.ts'
import { makeDatabase, withoutPostgres } from '../helpers/postgres.ts'

const onSqlite = {
  name: 'SQLite',
  unless: false,
  make: async () => ({ open: openAcademyFile, remove: async () => {} }),
}
const onPostgres = {
  name: 'the PostgreSQL of LEARNCTL_TEST_POSTGRES',
  unless: withoutPostgres !== false,
  async make() {
    const { url, remove } = await makeDatabase()
    return { open: (_: string, now: () => Date) => openAcademyOnPostgres({ url, env: {} }, now), remove }
  },
}

for (const { name, unless, make } of [onSqlite, onPostgres]) {
  describe.skipIf(unless)(`three servers on ${name}`, () => {
    const test = standard.extend('engine', make).extend('servers', async ({ engine }, { onCleanup }) => {
      const { open, remove } = engine
      const first = await openTestAcademy({ open })
      const others = [1, 2].map(() => openTestAcademy({ open, beside: first }))
      const servers = [first, ...(await Promise.all(others))] as const
      onCleanup(async () => {
        await Promise.all(servers.map((server) => server.close()))
        await remove()
      })
      return servers
    })
    const atEach = (servers: readonly TestAcademy[], count: number, key: string) =>
      Array.from({ length: count }, (_, at) => servers[at % servers.length]?.bearer(`Bearer ${key}`))

    test('the same Idempotency-Key twenty times at once makes one course, which all are answered', async ({
      servers,
    }) => {
      const admin = await servers[0].person('admin')
      const answers = await Promise.all(
        atEach(servers, 20, admin.key).map((server) =>
          server?.post('/v1/courses', { title: 'Logic' }, { 'idempotency-key': '"a"' }),
        ),
      )
      expect(new Set(answers.map((answer) => answer?.status))).toEqual(new Set([201]))
      expect(new Set(answers.map((answer) => answer?.text)).size).toBe(1)
      const replayed = answers.filter((answer) => answer?.headers.get('idempotent-replayed') === 'true')
      expect(replayed).toHaveLength(19)
      expect((await admin.get('/v1/courses')).body.data).toHaveLength(1)
    })

    test('a key whose work is refused is refused alike by all, and one with another body by none of them done', async ({
      servers,
    }) => {
      const admin = await servers[0].person('admin')
      const send = (title: string) =>
        Promise.all(
          atEach(servers, 9, admin.key).map((server) =>
            server?.post('/v1/courses', { title }, { 'idempotency-key': '"a"' }),
          ),
        )
      const refused = await send('')
      expect(new Set(refused.map((answer) => answer?.status))).toEqual(new Set([422]))
      expect(new Set(refused.map((answer) => answer?.text)).size).toBe(1)
      const others = await send('Logic')
      expect(new Set(others.map((answer) => answer?.body.code))).toEqual(new Set(['idempotency_mismatch']))
      expect((await admin.get('/v1/courses')).body.data).toEqual([])
    })

    test('of twenty attempts at a password at once, over all of them, five are made', async ({ servers }) => {
      const attempts = servers.map(({ database, clock }) => attemptsIn(database, clock.now))
      const waits = await Promise.all(
        Array.from({ length: 20 }, (_, at) => attempts[at % attempts.length]?.begin(['account network'])),
      )
      expect(waits.sort()).toEqual([...Array(5).fill(0), ...Array(15).fill(1)])
    })

    test('of three that begin at once with nothing, one makes the academy, its first key and its password', async ({
      engine,
    }) => {
      const directory = freshDirectory()
      const { now } = stoppedClock()
      const begin = async () => {
        const { database, created, newId } = await engine.open(join(directory.path, 'new.db'), now)
        const wanted = { password: true, key: created }
        const secrets = await makeFirstSecrets({ database, now, newId, passwordCost }, wanted)
        return { database, created, ...secrets }
      }
      const begun = await Promise.all([begin(), begin(), begin()])
      const count = async (what: string) =>
        (await begun[0].database.one(sql`select count(*) as found from ${raw(what)}`))?.['found']
      expect(begun.filter(({ created }) => created)).toHaveLength(1)
      expect(begun.filter(({ firstKey }) => firstKey !== undefined)).toHaveLength(1)
      expect(begun.filter(({ firstPassword }) => firstPassword !== undefined)).toHaveLength(1)
      expect([await count('users'), await count('api_keys')]).toEqual([1, 1])
      await Promise.all(begun.map(({ database }) => database.close()))
      directory.remove()
      await engine.remove()
    })

    test('a server whose clock is not that of the database finds out', async ({ servers }) => {
      const [{ database }] = servers
      const isSqlite = database.dialect.name === 'sqlite'
      expect(Math.abs(await clockAheadMs(database, () => new Date()))).toBeLessThan(1000)
      const late = await clockAheadMs(database, () => new Date(Date.now() - hour))
      expect(Math.round(late / minute)).toBe(isSqlite ? 0 : -60)
    })

    test('counters are folded by all of them at once, and none twice', async ({ servers }) => {
      const [{ database, clock }] = servers
      const admin = await servers[0].person('admin')
      const { body: course } = await admin.post('/v1/courses', { title: 'Logic', status: 'published' })
      const learners = await Promise.all(Array.from({ length: 6 }, () => servers[0].person('learner')))
      for (const { id } of learners) await admin.post('/v1/enrollments', { userId: id, courseId: course.id })
      const works: (() => void)[] = []
      const later = (work: () => void) => {
        works.push(work)
        return setTimeout(() => {}, 0)
      }
      const stops = servers.map((server) => keepInOrder(server.database, clock.now, later))
      for (const work of works.splice(0)) work()
      await Promise.all(stops.map((stop) => stop()))
      expect(await database.all(sql`select 1 as pending from counter_changes`)).toEqual([])
      expect(await differingCounters({ database, now: clock.now().toISOString() })).toBe(0)
      expect(
        (await admin.get('/v1/analytics/learners?include_not_started=true&limit=1')).body.summary,
      ).toMatchObject({
        enrollments: 6,
      })
    })
  })
}
