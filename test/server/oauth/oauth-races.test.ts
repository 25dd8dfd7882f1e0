import sql from 'sql-template-tag'
import { describe, expect, test } from 'vitest'
import { openAcademyOnPostgres } from '../../../src/server/academy/open-academy.ts'
import { openTestAcademy, second, type TestAcademy } from '../../helpers/academy.ts'
import { makeAcademyDatabase, startPostgresProxy, withoutPostgres } from '../../helpers/postgres.ts'
import { countOutcomes, runAtOnce, sharedEngines, testOn } from '../../helpers/three-servers.ts'
import { openDevice } from './device-flow.ts'
import { openFlow } from './flow.ts'

/** Returns a user's grants: when each ended, if it did, and its number of access and refresh tokens. */
function grantsOf({ database }: TestAcademy, userId: string) {
  return database.all(sql`
    select revoked_at is not null as ended,
      (select count(*) from refresh_tokens where grant_id = g.id) as refresh,
      (select count(*) from access_tokens where grant_id = g.id) as access
    from grants g where user_id = ${userId}`)
}

for (const engine of sharedEngines) {
  const race = testOn(engine)

  describe.skipIf(engine.isMissing)(`three servers on ${engine.name}`, () => {
    race(
      'a refresh token six times at once gives tokens twice, for one lost answer, and the third use ends the grant',
      async ({ admin, servers }) => {
        const [first] = servers
        const { refresh_token } = await openFlow(first).tokens(admin)
        const answers = await runAtOnce(servers, 6, (server) => openFlow(server).refresh(refresh_token))
        expect(countOutcomes(answers)).toEqual({ 200: 2, invalid_grant: 4 })
        expect(await grantsOf(first, admin.id)).toEqual([{ ended: 1, refresh: 3, access: 3 }])
        const given = answers.filter(({ status }) => status === 200)
        const next = await Promise.all(
          given.map(({ body }, index) => openFlow(servers[index] ?? first).refresh(body.refresh_token)),
        )
        expect(countOutcomes(next)).toEqual({ invalid_grant: 2 })
        for (const { body } of given) {
          const uses = await runAtOnce(servers, 3, (server) =>
            server.bearer(`Bearer ${body.access_token}`).get('/v1/courses'),
          )
          expect(countOutcomes(uses)).toEqual({ invalid_token: 3 })
        }
      },
    )

    race(
      'a refresh token that was used before ends the grant, however many servers see it at once',
      async ({ admin, clock, servers }) => {
        const [first] = servers
        const used = await openFlow(first).tokens(admin)
        const { body: current } = await openFlow(first).refresh(used.refresh_token)
        clock.advance(10 * second)
        const answers = await runAtOnce(servers, 6, (server) => openFlow(server).refresh(used.refresh_token))
        expect(countOutcomes(answers)).toEqual({ invalid_grant: 6 })
        expect(await grantsOf(first, admin.id)).toEqual([{ ended: 1, refresh: 2, access: 2 }])
        expect((await openFlow(first).refresh(current.refresh_token)).body.error).toBe('invalid_grant')
      },
    )

    race(
      'the owner and the thief of a refresh token at once, one server each: neither goes on',
      async ({ admin, clock, servers }) => {
        const [first, other] = servers
        const used = await openFlow(first).tokens(admin)
        const { body: current } = await openFlow(first).refresh(used.refresh_token)
        clock.advance(10 * second)
        const [owner, thief] = await Promise.all([
          openFlow(first).refresh(current.refresh_token),
          openFlow(other).refresh(used.refresh_token),
        ])
        expect(thief.body.error).toBe('invalid_grant')
        if (owner.status === 200) {
          expect((await openFlow(other).refresh(owner.body.refresh_token)).body.error).toBe('invalid_grant')
        }
        expect(await grantsOf(first, admin.id)).toMatchObject([{ ended: 1 }])
      },
    )

    race(
      'a grant that is revoked while it is refreshed gives nothing that lives on',
      async ({ admin, servers }) => {
        const [first] = servers
        const { refresh_token } = await openFlow(first).tokens(admin)
        const [{ id }] = (await admin.get('/v1/grants')).body.data
        const [refreshed, revoked] = await Promise.all([
          openFlow(servers[1]).refresh(refresh_token),
          servers[2].bearer(`Bearer ${admin.key}`).delete(`/v1/grants/${id}`),
        ])
        expect(revoked.status).toBe(204)
        const { access_token = 'none', refresh_token: next = 'none' } = refreshed.body
        expect((await openFlow(first).refresh(next)).body.error).toBe('invalid_grant')
        expect((await first.bearer(`Bearer ${access_token}`).get('/v1/courses')).status).toBe(401)
      },
    )

    race(
      'an authorization code that is redeemed six times at once leads to one grant, which ends',
      async ({ admin, servers }) => {
        const [first] = servers
        const code = await openFlow(first).code(admin)
        const answers = await runAtOnce(servers, 6, (server) => openFlow(server).exchange(code))
        expect(countOutcomes(answers)).toEqual({ 200: 1, invalid_grant: 5 })
        expect(await grantsOf(first, admin.id)).toEqual([{ ended: 1, refresh: 1, access: 1 }])
        const given = answers.find(({ status }) => status === 200)
        expect((await openFlow(first).refresh(given?.body.refresh_token)).body.error).toBe('invalid_grant')
      },
    )

    race('an allowed device that asks all servers at once gets one grant', async ({ admin, servers }) => {
      const [first] = servers
      const flow = openFlow(first)
      const device = openDevice(flow, first)
      const { device_code, user_code } = (await device.start('read')).body
      await flow.browser.submit(await device.type(admin, user_code), {}, 'Allow')
      const answers = await runAtOnce(servers, 6, (server) =>
        openDevice(openFlow(server), server).poll(device_code),
      )
      expect(countOutcomes(answers)).toEqual({ 200: 1, invalid_grant: 5 })
      expect(await grantsOf(first, admin.id)).toEqual([{ ended: 0, refresh: 1, access: 1 }])
    })

    race(
      'a device that one person allows while another denies it gets what one of them said',
      async ({ admin, servers }) => {
        const [first, other] = servers
        const pair = [
          { flow: openFlow(first), academy: first, person: admin, button: 'Allow', says: 'Device connected' },
          {
            flow: openFlow(other),
            academy: other,
            person: await first.person('learner'),
            button: 'Deny',
            says: 'Device denied',
          },
        ]
        const device = openDevice(openFlow(first), first)
        const { device_code, user_code } = (await device.start('read')).body
        const asked = await Promise.all(
          pair.map(({ flow, academy, person }) => openDevice(flow, academy).type(person, user_code)),
        )
        const answered = await Promise.all(
          pair.map(async ({ flow, button, says }, index) => {
            const page = asked[index]
            return page && (await flow.browser.submit(page, {}, button)).text.includes(says)
          }),
        )
        expect(answered.filter(Boolean)).toHaveLength(1)
        const { status, body } = await device.poll(device_code)
        expect([status, body.error]).toEqual(answered[0] ? [200, undefined] : [400, 'access_denied'])
      },
    )
  })
}

describe.skipIf(withoutPostgres !== false)('a database whose answer to the commit is lost', () => {
  test('a refresh is 503 then, and the same token works again', async ({ onTestFinished }) => {
    const { url, remove } = await makeAcademyDatabase()
    const front = await startPostgresProxy(url)
    const academy = await openTestAcademy({
      open: (_, now) => openAcademyOnPostgres({ url: front.url, env: {} }, now),
    })
    onTestFinished(async () => {
      await academy.close()
      await front[Symbol.asyncDispose]()
      await remove()
    })
    const flow = openFlow(academy)
    const admin = await academy.person('admin')
    const { refresh_token } = await flow.tokens(admin)
    let cuts = 0
    front.onServer = (text, cut) => {
      if (!text.includes('COMMIT') || cuts > 0) return
      cuts += 1
      cut()
    }
    expect(await flow.refresh(refresh_token)).toMatchObject({ status: 503 })
    const again = await flow.refresh(refresh_token)
    expect([cuts, again.status]).toEqual([1, 200])
    expect(await grantsOf(academy, admin.id)).toEqual([{ ended: 0, refresh: 3, access: 3 }])
    expect((await flow.refresh(again.body.refresh_token)).status).toBe(200)
  })
})
