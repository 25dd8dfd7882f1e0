import { expect, test } from 'vitest'
import { signingKeys } from '../../../src/server/integrations/signing-keys.ts'
import type { OutgoingRequest } from '../../../src/server/outgoing/outgoing.ts'

const setOf = (kid: string) => JSON.stringify({ keys: [{ kid, kty: 'RSA' }] })

/** Keys found over a network that answers this, and what it was asked. */
function found(answer: { status?: number; isCut?: boolean } = {}) {
  const asked: OutgoingRequest[] = []
  const keysOf = signingKeys(
    async (request) => {
      asked.push(request)
      return { status: 200, headers: {}, isCut: false, ...answer, body: Buffer.from(setOf('theirs')) }
    },
    () => 0,
  )
  return { asked, keysOf }
}

test('keys that are stored count alone; nothing is asked', async () => {
  const { asked, keysOf } = found()
  const keys = keysOf({ jwks: setOf('ours'), jwksUrl: 'https://keys.example.org' })
  expect(await keys.find('ours')).toMatchObject({ kid: 'ours' })
  expect(await keys.find('theirs')).toBeNull()
  expect(asked).toEqual([])
})

test('those at an address are kept between requests, those of Canvas where none is set', async () => {
  const { asked, keysOf } = found()
  for (let time = 0; time < 2; time += 1) {
    const keys = keysOf({ jwks: null, jwksUrl: 'https://keys.example.org/jwks' })
    expect(await keys.find('theirs')).toMatchObject({ kid: 'theirs' })
  }
  await keysOf({ jwks: null, jwksUrl: null }).find('theirs')
  expect(asked.map(({ url }) => new URL(url).host)).toEqual([
    'keys.example.org',
    '8axpcl50e4.execute-api.us-east-1.amazonaws.com',
  ])
})

test.each([
  ['a page of another status', { status: 302 }, 'https://keys.example.org'],
  ['one that is cut short', { isCut: true }, 'https://keys.example.org'],
  ['one without encryption', {}, 'http://keys.example.org'],
])('%s has no keys', async (_, answer, jwksUrl) => {
  const { keysOf } = found(answer)
  await expect(keysOf({ jwks: null, jwksUrl }).find('theirs')).rejects.toMatchObject({
    code: 'keys_unavailable',
  })
})
