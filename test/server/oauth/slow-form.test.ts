import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { hashPassword } from '../../../src/server/access/password-hash.ts'
import { onPostgres, passwordCost, type TestAcademy } from '../../helpers/academy.ts'
import type { Shown } from '../../helpers/browser.ts'
import { authorizePath, type Flow, issuer, password, test } from './flow.ts'

/** Sends the form of a page whose last part follows only when `end` is called. */
function slowly(
  { fetch }: TestAcademy,
  { browser }: Flow,
  { forms }: Shown,
  path: string,
  fields: Readonly<Record<string, string>>,
): { answer: Promise<Response>; end: () => void } {
  const body = Buffer.from(`${new URLSearchParams({ ...forms[0]?.fields, ...fields })}`)
  let end = () => {}
  const stream = new ReadableStream({
    start(controller) {
      controller.enqueue(body.subarray(0, 10))
      end = () => {
        controller.enqueue(body.subarray(10))
        controller.close()
      }
    },
  })
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    cookie: browser.cookie(),
    origin: issuer,
  }
  // The types lack the option that a streamed body requires (Fetch §5.4).
  const init: RequestInit & { duplex: 'half' } = { method: 'POST', headers, body: stream, duplex: 'half' }
  return { answer: fetch(new Request(issuer + path, init)), end }
}

test('a user who loses access meanwhile grants nothing', async ({ academy, admin, flow, learner }) => {
  const page = await flow.consent(learner)
  const { answer, end } = slowly(academy, flow, page, authorizePath(), { action: 'allow' })
  await admin.put(`/v1/users/${learner.id}`, { password: 'another horse battery' })
  end()
  const { status, headers } = await answer
  expect(status).toBe(403)
  expect(headers.get('location')).toBeNull()
  expect(await academy.database.all(sql`select * from authorization_codes`)).toEqual([])
})

test('nor does a device get what was allowed too slowly', async ({ academy, admin, flow, learner }) => {
  const { user_code } = (await flow.send('/oauth/device_authorization', { client_id: 'learnctl' })).body
  await flow.consent(learner)
  const typed = await flow.browser.open('/oauth/device')
  const page = await flow.browser.submit(typed, { user_code }, 'Continue')
  const { answer, end } = slowly(academy, flow, page, '/oauth/device', { action: 'allow' })
  await admin.put(`/v1/users/${learner.id}`, { status: 'suspended' })
  end()
  expect((await answer).status).toBe(403)
  expect(await academy.database.all(sql`select decision from device_codes`)).toEqual([{ decision: null }])
})

// PostgreSQL decides which of the two requests comes first.
test.skipIf(onPostgres)(
  'an account that was suspended while its password was being checked opens no session',
  async ({ academy, admin, flow, learner }) => {
    const stored = await hashPassword(password, passwordCost)
    await academy.database.run(sql`update users set password_hash = ${stored} where id = ${learner.id}`)
    const page = await flow.authorize()
    const attempt = flow.browser.signIn(page, learner.email, password)
    await admin.put(`/v1/users/${learner.id}`, { status: 'suspended' })
    expect((await attempt).status).toBe(403)
    expect(await academy.database.all(sql`select * from browser_sessions`)).toEqual([])
  },
)
