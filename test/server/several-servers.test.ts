import { join } from 'node:path'
import sql, { raw } from 'sql-template-tag'
import { describe, expect } from 'vitest'
import { createAttempts } from '../../src/server/access/attempts.ts'
import { makeFirstSecrets } from '../../src/server/credentials/first-secrets.ts'
import { clockAheadMs } from '../../src/server/database/health.ts'
import { freshDirectory, hour, minute, passwordCost, stoppedClock } from '../helpers/academy.ts'
import { countOutcomes, runAtOnceBy, sharedEngines, testOn } from '../helpers/three-servers.ts'

for (const engine of sharedEngines) {
  const test = testOn(engine)

  describe.skipIf(engine.isMissing)(`three servers on ${engine.name}`, () => {
    test('an Idempotency-Key twenty times at once makes one course', async ({ admin, servers }) => {
      const answers = await runAtOnceBy(servers, admin, 20, (server) =>
        server.post('/v1/courses', { title: 'Biology' }, { 'idempotency-key': '"a"' }),
      )
      expect(countOutcomes(answers)).toEqual({ 201: 20 })
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
      const replayed = answers.filter(({ headers }) => headers.get('idempotent-replayed') === 'true')
      expect(replayed).toHaveLength(19)
      expect((await admin.get('/v1/courses?q=biology')).body.data).toHaveLength(1)
    })

    test('a refused key is refused alike by all, also with another body', async ({ admin, servers }) => {
      const send = (title: string) =>
        runAtOnceBy(servers, admin, 9, (server) =>
          server.post('/v1/courses', { title }, { 'idempotency-key': '"a"' }),
        )
      const refused = await send('')
      expect(countOutcomes(refused)).toEqual({ validation_failed: 9 })
      expect(new Set(refused.map(({ text }) => text)).size).toBe(1)
      expect(countOutcomes(await send('Chemistry'))).toEqual({ idempotency_mismatch: 9 })
      expect((await admin.get('/v1/courses?q=chemistry')).body.data).toEqual([])
    })

    test('five of twenty attempts at a password at once, over all servers, are made', async ({ servers }) => {
      const attempts = servers.map(({ database, clock }) => createAttempts(database, clock.now))
      const waits = await Promise.all(
        Array.from({ length: 20 }, (_, at) => attempts[at % attempts.length]?.begin(['account network'])),
      )
      expect(waits.sort()).toEqual([...Array(5).fill(0), ...Array(15).fill(1)])
    })

    test('one of three servers that start at once makes the academy', async ({ engine }) => {
      const empty = await engine.makeEmpty()
      const directory = freshDirectory()
      const { now } = stoppedClock()
      const begin = async () => {
        const { database, created, newId } = await empty.open(join(directory.path, 'new.db'), now)
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
      await empty.remove()
    })

    test('a server whose clock is not that of the database finds out', async ({ servers }) => {
      const [{ database }] = servers
      const isSqlite = !database.dialect.hasManyWriters
      expect(Math.abs(await clockAheadMs(database, () => new Date()))).toBeLessThan(minute)
      const late = await clockAheadMs(database, () => new Date(Date.now() - hour))
      expect(Math.round(late / minute)).toBe(isSqlite ? 0 : -60)
    })
  })
}
