import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { isCredential } from '../../../src/codec/credential-text.ts'
import { deviceGrantType } from '../../../src/contract/oauth.ts'
import { sweep } from '../../../src/server/database/sweep.ts'
import { minute, openTestAcademy, second } from '../../helpers/academy.ts'
import { openDevice } from './device-flow.ts'
import { givePassword, issuer, openFlow, password, register, test as standard } from './flow.ts'

const test = standard.extend('device', ({ flow, academy }) => openDevice(flow, academy))

test('a device gets two codes, for ten minutes, and an address', async ({ device }) => {
  const answer = await device.start('read write')
  expect(answer.status).toBe(200)
  expect(answer.body).toEqual({
    device_code: expect.stringMatching(/^lpd_/),
    user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/),
    verification_uri: `${issuer}/oauth/device`,
    verification_uri_complete: `${issuer}/oauth/device?user_code=${answer.body.user_code}`,
    expires_in: 600,
    interval: 5,
  })
  expect(isCredential('deviceCode', answer.body.device_code)).toBe(true)
  expect(answer.headers.get('cache-control')).toBe('no-store')
})

test('the device waits for a user, then gets tokens', async ({ academy, clock, device, flow, learner }) => {
  const { device_code, user_code } = (await device.start('read')).body
  expect(await device.poll(device_code)).toMatchObject({
    status: 400,
    body: { error: 'authorization_pending' },
  })
  const page = await device.type(learner, user_code)
  expect(page.text).toContain('Allow learnctl to act on your behalf?')
  clock.advance(5 * second)
  expect((await device.poll(device_code)).body.error).toBe('authorization_pending')
  const done = await flow.browser.submit(page, {}, 'Allow')
  expect(done.text).toContain('Device connected')
  expect(done.leadsTo).toBeNull()
  clock.advance(5 * second)
  const answer = await device.poll(device_code)
  expect(answer).toMatchObject({
    status: 200,
    body: { token_type: 'Bearer', expires_in: 3600, scope: 'read' },
  })
  const profile = await academy.bearer(`Bearer ${answer.body.access_token}`).get('/v1/user/profile')
  expect(profile.body).toMatchObject({ id: learner.id, authMethod: 'oauth' })
  expect((await flow.refresh(answer.body.refresh_token)).status).toBe(200)
  expect((await device.poll(device_code)).body.error).toBe('invalid_grant')
})

test('one of several parallel polls of a device gets tokens', async ({ admin, device, flow }) => {
  const { device_code, user_code } = (await device.start()).body
  await flow.browser.submit(await device.type(admin, user_code), {}, 'Allow')
  const answers = await Promise.all(Array.from({ length: 10 }, () => device.poll(device_code)))
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
})

test('the page names client, account, scopes and code, and warns', async ({ admin, device }) => {
  const { user_code } = (await device.start('read admin')).body
  const { text } = await device.type(admin, user_code)
  expect(text).toContain(`${admin.email} admin`)
  expect(text).toMatch(/View the courses, .* Administer the academy/)
  expect(text).toContain(`Code on the device ${user_code}`)
  expect(text).toContain('only if you started it yourself')
  expect(text).toContain('Until 30 May 2026')
})

test('a link with the code fills it in and decides nothing', async ({ academy, admin, device, flow }) => {
  const { device_code, user_code, verification_uri_complete } = (await device.start()).body
  await givePassword(academy, admin.id)
  const first = await flow.browser.open(verification_uri_complete)
  expect(first.text).toContain('A device is asking to act on your behalf.')
  const page = await flow.browser.signIn(first, admin.email, password)
  expect(page.forms[0]?.fields).toMatchObject({ user_code })
  expect(page.text).not.toContain('Allow')
  expect((await device.poll(device_code)).body.error).toBe('authorization_pending')
  expect((await flow.browser.submit(page, {}, 'Continue')).text).toContain(`Code on the device ${user_code}`)
})

test('a code may be typed in small letters, with spaces or without the hyphen', async ({ admin, device }) => {
  const { user_code } = (await device.start()).body
  const bare = user_code.replace('-', '')
  for (const typed of [
    bare,
    bare.toLowerCase(),
    ` ${bare.split('').join(' ')} `,
    user_code.replace('-', '–'),
  ]) {
    expect((await device.type(admin, typed)).text).toContain(user_code)
  }
})

test('a denied device gets access_denied, once', async ({ admin, device, flow }) => {
  const { device_code, user_code } = (await device.start()).body
  const done = await flow.browser.submit(await device.type(admin, user_code), {}, 'Deny')
  expect(done.text).toContain('Device denied')
  expect(await device.poll(device_code)).toMatchObject({ status: 400, body: { error: 'access_denied' } })
  expect((await device.poll(device_code)).body.error).toBe('invalid_grant')
})

test('a device that polls too soon must wait five seconds more from then on', async ({ clock, device }) => {
  const { device_code } = (await device.start()).body
  const error = async (seconds: number) => {
    clock.advance(seconds * second)
    return (await device.poll(device_code)).body.error
  }
  expect(await error(0)).toBe('authorization_pending')
  expect(await error(4)).toBe('slow_down')
  expect(await error(9)).toBe('slow_down')
  expect(await error(15)).toBe('authorization_pending')
  expect(await error(14)).toBe('slow_down')
  expect(await error(20)).toBe('authorization_pending')
})

test('codes end after ten minutes', async ({ admin, clock, device, flow }) => {
  const { device_code, user_code } = (await device.start()).body
  const page = await device.type(admin, user_code)
  clock.advance(10 * minute)
  expect((await device.poll(device_code)).body.error).toBe('expired_token')
  expect((await flow.browser.submit(page, {}, 'Allow')).text).toContain('No device is waiting for this code')
  expect((await device.type(admin, user_code)).text).toContain('No device is waiting for this code')
})

test('a device that was allowed too late gets nothing', async ({ admin, clock, device, flow }) => {
  const { device_code, user_code } = (await device.start()).body
  await flow.browser.submit(await device.type(admin, user_code), {}, 'Allow')
  clock.advance(10 * minute)
  expect((await device.poll(device_code)).body.error).toBe('expired_token')
})

test('an answer counts once, from any user', async ({ academy, admin, device, flow, learner }) => {
  const { device_code, user_code } = (await device.start()).body
  const mine = await device.type(admin, user_code)
  const other = openFlow(academy)
  const theirs = await openDevice(other, academy).type(learner, user_code)
  await other.browser.submit(theirs, {}, 'Deny')
  expect((await flow.browser.submit(mine, {}, 'Allow')).text).toContain('No device is waiting')
  expect((await device.poll(device_code)).body.error).toBe('access_denied')
})

test('a device code is for the client that it was given to', async ({ academy, device, flow }) => {
  const { clientId: client_id } = await register(academy, { public: true })
  const { device_code } = (await device.start()).body
  const refused = await flow.send('/oauth/token', { grant_type: deviceGrantType, client_id, device_code })
  expect(refused).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
})

test.for([
  ['no device code', undefined, 'invalid_request'],
  ['an unknown device code', 'lpd_none', 'invalid_grant'],
] as const)('%s is refused', async ([, device_code, error], { flow }) => {
  const fields = { grant_type: deviceGrantType, client_id: 'learnctl', device_code }
  expect(await flow.send('/oauth/token', fields)).toMatchObject({ status: 400, body: { error } })
})

test('a device asks for scopes of ours, for read where it names none', async ({ admin, device, flow }) => {
  expect(await device.start('openid')).toMatchObject({ status: 400, body: { error: 'invalid_scope' } })
  const { device_code, user_code } = (await device.start()).body
  await flow.browser.submit(await device.type(admin, user_code), {}, 'Allow')
  expect((await device.poll(device_code)).body.scope).toBe('read')
})

test('an account without the scopes gets an error', async ({ admin, device, flow, learner }) => {
  const { device_code, user_code } = (await device.start('admin')).body
  const refused = await device.type(learner, user_code)
  expect(refused.status).toBe(403)
  expect(refused.text).toContain('The role learner cannot grant any of these scopes.')
  await flow.browser.submit(refused, {}, 'Use another account')
  const page = await device.type(admin, user_code)
  await flow.browser.submit(page, {}, 'Allow')
  expect((await device.poll(device_code)).body.scope).toBe('admin')
})

test('five wrong codes end the session, whatever is between', async ({ admin, device, flow }) => {
  const { user_code } = (await device.start()).body
  for (let count = 0; count < 4; count += 1) {
    const page = await device.type(admin, `BBBB-BBB${'CDFG'[count]}`)
    expect(page.status).toBe(403)
    expect(page.text).toContain('No device is waiting for this code')
  }
  const right = await device.type(admin, user_code)
  expect(right.text).toContain('Allow learnctl')
  const fifth = await flow.browser.submit(right, { user_code: 'BBBB-BBBB' }, 'Allow')
  expect(fifth.status).toBe(403)
  expect(fifth.text).toContain('5 wrong codes. You have been signed out.')
  const next = await flow.browser.open('/oauth/device')
  expect(next.text).toContain('E-mail address or username')
  const entries = await admin.get('/v1/audit?action=request.refused,session.ended&sort=at')
  const refused = { userId: admin.id, after: { operation: 'POST /oauth/device', code: 'forbidden' } }
  const ended = { action: 'session.ended', userId: admin.id, credential: 'browser' }
  expect(entries.body.data).toMatchObject([...Array(4).fill(refused), ended, refused])
})

test('after twenty wrong codes a minute a user is 429, and no other user behind the same address', {
  tags: ['slow'],
}, async ({ academy, clock, device, flow, learner }) => {
  const { device_code, user_code } = (await device.start()).body
  const otherFlow = openFlow(academy)
  const asked = await openDevice(otherFlow, academy).type(learner, user_code)
  const statuses: number[] = []
  for (let count = 0; count < 21; count += 1) {
    // The fifth wrong code of a session ends it.
    if (count % 4 === 0) flow.browser.forget()
    statuses.push((await device.type(learner, 'BBBB-BBBB')).status)
  }
  expect(statuses).toEqual([...Array(20).fill(403), 429])
  flow.browser.forget()
  expect((await device.type(await academy.person('learner'), user_code)).status).toBe(200)
  flow.browser.forget()
  // A user with too many wrong codes cannot answer a device either.
  expect((await otherFlow.browser.submit(asked, {}, 'Allow')).status).toBe(429)
  expect((await device.poll(device_code)).body.error).toBe('authorization_pending')
  clock.advance(minute)
  expect((await device.type(learner, user_code)).status).toBe(200)
})

test('wrong codes at two servers on one database count together, over all sessions of a user', {
  tags: ['slow'],
}, async ({ academy, device, flow, learner }) => {
  await using other = await openTestAcademy({ beside: academy })
  const otherFlow = openFlow(other)
  const there = openDevice(otherFlow, other)
  const statuses: number[] = []
  for (let count = 0; count < 22; count += 1) {
    if (count % 8 === 0) for (const { browser } of [flow, otherFlow]) browser.forget()
    statuses.push((await (count % 2 ? there : device).type(learner, 'BBBB-BBBB')).status)
  }
  expect(statuses).toEqual([...Array(20).fill(403), 429, 429])
})

test('what a user allowed is void once their access ends', async ({ admin, device, flow, learner }) => {
  for (const change of [{ status: 'suspended' }, { status: 'active', password: 'another horse battery' }]) {
    const { device_code, user_code } = (await device.start()).body
    await flow.browser.submit(await device.type(learner, user_code), {}, 'Allow')
    await admin.put(`/v1/users/${learner.id}`, change)
    expect((await device.poll(device_code)).body.error).toBe('access_denied')
    await admin.put(`/v1/users/${learner.id}`, { status: 'active' })
  }
})

test('old codes are swept away an hour after their end', async ({ academy, clock, device }) => {
  await device.start()
  clock.advance(69 * minute)
  await sweep(academy.database, clock.now())
  expect(await academy.database.all(sql`select hash from device_codes`)).toHaveLength(1)
  clock.advance(2 * minute)
  await device.start()
  await sweep(academy.database, clock.now())
  expect(await academy.database.all(sql`select hash from device_codes`)).toHaveLength(1)
})
