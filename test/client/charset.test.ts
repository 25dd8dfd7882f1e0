import type { OutgoingHttpHeaders } from 'node:http'
import { describe, expect } from 'vitest'
import { type Answer, own, test } from '../helpers/odd-platform.ts'
import { expectClearError } from '../helpers/result.ts'

const said =
  (type: string, bytes: Uint8Array, status = 200, headers: OutgoingHttpHeaders = {}): Answer =>
  (response) =>
    response.writeHead(status, { 'content-type': type, ...headers }).end(bytes)

const latin1 = Buffer.from('[{"id": 1, "title": "Café"}]', 'latin1')
const utf8 = Buffer.from('[{"id": 1, "title": "Café"}]')

describe('JSON is read', () => {
  test.for<[type: string, bytes: Uint8Array]>([
    ['application/json; charset=ISO-8859-1', latin1],
    // The charset that old servers put on everything.
    ['application/json;charset="ISO-8859-1"', utf8],
    ['application/json; charset=no-such-thing', utf8],
    ['application/json', Buffer.from(`\uFEFF${utf8}`)],
  ])('in the charset of %s, unless it is UTF-8', async ([type, bytes], { platform }) => {
    platform.answer(said(type, bytes))
    expect((await platform.run('courses list --columns title')).stdout).toBe('Café\n')
  })

  test.for([['application/json'], ['application/json; charset=utf-8'], ['application/json; charset=odd']])(
    'as %s only where it is UTF-8',
    async ([type = ''], { platform }) => {
      platform.answer(said(type, latin1))
      const reason = 'cannot be read: byte 0xE9 at offset 24 is not UTF-8\n'
      expectClearError(await platform.run('courses list'), 1, reason)
    },
  )

  test('of an error, whatever its bytes are', async ({ platform }) => {
    const body = Buffer.from('{"message": "Café geschlossen"}', 'latin1')
    platform.answer(said('application/json', body, 404))
    expectClearError(await platform.run('courses update 1 --title x'), 3, 'error: Caf\uFFFD geschlossen')
  })
})

test('rows in another encoding are no export', async ({ platform }) => {
  const rows = Buffer.from('{"email":"a"}\n{"email":"b\xe9"}\n{"email":"c"}\n', 'latin1')
  platform.answer(said('application/x-ndjson', rows, 200, own))
  for (const form of ['--format ndjson', '--format json', '--format yaml --columns email']) {
    const ran = await platform.run(`analytics export ${form} --file rows`)
    expectClearError(ran, 1, 'error: The platform sent a row that is not UTF-8\n')
  }
})
