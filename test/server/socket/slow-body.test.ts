import sql from 'sql-template-tag'
import { expect } from 'vitest'
import type { Person, TestAcademy } from '../../helpers/academy.ts'
import { slowBody, slowRequest } from '../../helpers/web.ts'
import { issuer, test } from '../oauth/flow.ts'

/** Requests a key with all scopes; the end of the body follows when `end` is called. */
function keyWanted({ fetch }: TestAcademy, credential: string) {
  const body = slowBody(JSON.stringify({ name: 'one more', scopes: ['read', 'write', 'admin'] }))
  const headers = { authorization: `Bearer ${credential}`, 'content-type': 'application/json' }
  return { answer: fetch(slowRequest(`${issuer}/v1/keys`, 'POST', headers, body)), end: body.end }
}

/** Changes that end an admin's access, and how their requests are refused afterwards. */
const ends: readonly [string, (admin: Person, owner: Person) => Promise<unknown>, number][] = [
  ['is suspended', (admin, { id }) => admin.put(`/v1/users/${id}`, { status: 'suspended' }), 401],
  ['is an admin no longer', (admin, { id }) => admin.put(`/v1/users/${id}`, { role: 'instructor' }), 403],
  [
    'has their key revoked',
    async (admin, { id }) => {
      const { data } = (await admin.get(`/v1/keys?user_id=${id}`)).body
      return admin.delete(`/v1/keys/${data[0].id}`)
    },
    401,
  ],
]

for (const [what, end, status] of ends) {
  test(`who ${what} while a body of theirs is on its way changes nothing`, async ({ academy, admin }) => {
    const owner = await academy.person('admin')
    const wanted = keyWanted(academy, owner.key)
    await end(admin, owner)
    wanted.end()
    expect((await wanted.answer).status).toBe(status)
    expect(await academy.database.all(sql`select * from api_keys where name = 'one more'`)).toEqual([])
  })
}

test('nor does an access token whose grant was revoked meanwhile', async ({ academy, admin, flow }) => {
  const { access_token } = await flow.tokens(admin, { scope: 'read write admin' })
  const wanted = keyWanted(academy, access_token)
  const [grant] = (await admin.get('/v1/grants')).body.data
  await admin.delete(`/v1/grants/${grant.id}`)
  wanted.end()
  expect((await wanted.answer).status).toBe(401)
  expect(await academy.database.all(sql`select * from api_keys where name = 'one more'`)).toEqual([])
})
