import { createHmac, createPrivateKey, type JsonWebKey, sign as rsaSignature } from 'node:crypto'
import { CompactSign, SignJWT } from 'jose'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/codec/json-text.ts'
import type { LmsKind } from '../../src/contract/constants.ts'
import { fixedKeys } from '../../src/lms/canvas-signature.ts'
import type { Delivery, SignedDelivery, Trust } from '../../src/lms/delivery.ts'
import { sign, verify } from '../../src/lms/verify.ts'
import { keyPair, sample, sampleText } from './samples.ts'

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const now = Date.parse('2026-01-05T10:00:00.000Z')
const { privateKey, keySet } = keyPair('2026-01')
const uuid = 'VicYj3cu5BIFpoZhDVU4DZumnlBrWi1grgJEzADs'
const trust: Trust = { secrets: [secret], rootAccountUuid: uuid, keys: fixedKeys(keySet), now }

const payloads = {
  canvas: sample('canvas.grade_change'),
  moodle: sample('moodle_local_webhooks.user_graded.composed'),
  openedx: sample('openedx_webhooks_plugin.grade.composed'),
  thinkific: sample('thinkific.enrollment.progress'),
  classroom: sample('standard.grade_updated.composed'),
  oneroster: sample('standard.grade_updated.composed'),
  standard: sample('standard.grade_updated.composed'),
} satisfies Record<LmsKind, JsonObject>
const kinds = Object.keys(payloads) as LmsKind[]

const signed = (kind: LmsKind, changes: { secret?: string; now?: number } = {}) =>
  sign(kind, payloads[kind], {
    secret: kind === 'canvas' && changes.secret === undefined ? { privateKey } : secret,
    now,
    id: 'msg_1',
    ...changes,
  })

function received({ headers, query, body }: SignedDelivery, changed: Partial<Delivery> = {}): Delivery {
  return { headers, query: new URLSearchParams(query), rawBody: Buffer.from(body), ...changed }
}

const outcome = (kind: LmsKind, delivery: Delivery, changes: Partial<Trust> = {}) =>
  verify(kind, delivery, { ...trust, ...changes }).then(
    () => 'authentic',
    (error: { code?: string }) => error.code ?? error,
  )

describe.each(kinds)('%s', (kind) => {
  test('its deliveries are authentic, the same each time, and without the secret', async () => {
    const delivery = received(await signed(kind))
    const verified = await verify(kind, delivery, trust)
    expect(await verify(kind, delivery, trust)).toEqual(verified)
    const { token: _, ...body } = payloads[kind] as JsonObject
    expect(verified.body).toEqual(body)
    expect(JSON.stringify(verified)).not.toContain(secret)
  })

  test('both secrets count during a rotation, another one does not', async () => {
    const delivery = received(await signed(kind, { secret }))
    expect(await outcome(kind, delivery, { secrets: ['whsec_bmV3', secret] })).toBe('authentic')
    expect(await outcome(kind, delivery, { secrets: ['whsec_bmV3'] })).toBe('invalid_signature')
    expect(await outcome(kind, delivery, { secrets: [] })).toBe('invalid_signature')
  })

  test('Standard Webhooks headers prove it as well, and decide alone', async () => {
    const text = JSON.stringify(payloads[kind])
    const headers = standardHeaders(text)
    const delivery = { headers, query: new URLSearchParams(), rawBody: Buffer.from(text) }
    expect(await verify(kind, delivery, trust)).toMatchObject({ key: 'webhook-id:msg_1' })
    const native = received(await signed(kind))
    const wrong = { ...native, headers: { ...native.headers, ...headers, 'webhook-signature': 'v1,AAAA' } }
    expect(await outcome(kind, wrong)).toBe('invalid_signature')
  })

  test('a body without any proof is refused', async () => {
    const rawBody = Buffer.from(JSON.stringify({ ...payloads[kind], token: undefined }))
    expect(await outcome(kind, { headers: {}, query: new URLSearchParams(), rawBody })).toBe(
      'invalid_signature',
    )
  })
})

/** Headers that the Standard Webhooks library sends with a body. */
function standardHeaders(text: string, id = 'msg_1', at = now): Record<string, string> {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at / 1000)),
    'webhook-signature': new StandardWebhook(secret).sign(id, new Date(at), text),
  }
}

describe('Standard Webhooks', () => {
  const text = sampleText('standard.grade_updated.composed')
  const delivery = (headers: Record<string, string>, body = text) => ({
    headers,
    query: new URLSearchParams(),
    rawBody: Buffer.from(body),
  })
  const check = (changes: Record<string, string>, body = text) =>
    outcome('standard', delivery({ ...standardHeaders(text), ...changes }, body))

  test('a delivery signed here is authentic to that library', async () => {
    // The library compares with the machine's clock.
    const { headers, body } = await signed('standard', { now: Date.now() })
    const library = new StandardWebhook(secret)
    expect(() => library.verify(body, headers)).not.toThrow()
    expect(() => library.verify(`${body} `, headers)).toThrow()
  })

  test.each([
    ['another body', {}, text.replace('83', '93')],
    ['another id', { 'webhook-id': 'msg_2' }],
    ['another time', { 'webhook-timestamp': String(now / 1000 + 1) }],
    ['no id', { 'webhook-id': '' }],
    ['no time', { 'webhook-timestamp': '' }],
    ['a time that is none', { 'webhook-timestamp': '1e9' }],
    ['an empty signature', { 'webhook-signature': '' }],
    ['a signature that is none', { 'webhook-signature': 'v1,***' }],
    ['an asymmetric signature', { 'webhook-signature': 'v1a,AAAA' }],
    ['a very long list', { 'webhook-signature': 'v1,AAAA '.repeat(50).trim() }],
  ] as const)('%s is refused', async (_, changes, body?: string) => {
    expect(await check(changes, body)).toBe('invalid_signature')
  })

  test('one right signature among several is enough, but not in two headers', async () => {
    const { 'webhook-signature': right = '' } = standardHeaders(text)
    expect(await check({ 'webhook-signature': `v1,AAAA ${right}` })).toBe('authentic')
    expect(await check({ 'webhook-signature': `v1,AAAA, ${right}` })).toBe('invalid_signature')
    expect(await check({ 'webhook-id': 'msg_1, msg_1' })).toBe('invalid_signature')
  })

  test.each([-301, -300, 300, 301])('signed %i s from now', async (seconds) => {
    const headers = standardHeaders(text, 'msg_1', now + seconds * 1000)
    expect(await outcome('standard', delivery(headers))).toBe(
      Math.abs(seconds) > 300 ? 'timestamp_out_of_range' : 'authentic',
    )
  })

  test('a wrong signature is told before a wrong time', async () => {
    const headers = { ...standardHeaders(text, 'msg_1', 0), 'webhook-signature': 'v1,AAAA' }
    expect(await outcome('standard', delivery(headers))).toBe('invalid_signature')
  })

  test('an authentic body that is no JSON object is malformed', async () => {
    for (const body of ['', '[]', 'null', '{"a":1e400}', '{"a":NaN}', '{', '"\\ud800"']) {
      expect(await outcome('standard', delivery(standardHeaders(body), body))).toBe('malformed_payload')
    }
  })
})

describe('Canvas', () => {
  const claims = JSON.stringify(payloads.canvas)
  const body = (text: string): Delivery => ({
    headers: {},
    query: new URLSearchParams(),
    rawBody: Buffer.from(text),
  })
  const header = (values: object) => Buffer.from(JSON.stringify(values)).toString('base64url')
  const payload = Buffer.from(claims).toString('base64url')
  const token = async () => JSON.parse((await signed('canvas')).body) as string

  test('the token may stand in quotes or alone', async () => {
    expect(await outcome('canvas', body(`"${await token()}"\n`))).toBe('authentic')
    expect(await outcome('canvas', body(await token()))).toBe('authentic')
  })

  test('an unsigned token, or one signed with the public key as a secret, is refused', async () => {
    const none = `${header({ alg: 'none', kid: '2026-01' })}.${payload}.`
    expect(await outcome('canvas', body(none))).toBe('invalid_signature')
    const unsigned = `${header({ alg: 'none', kid: '2026-01' })}.${payload}.AAAA`
    expect(await outcome('canvas', body(unsigned))).toBe('invalid_signature')
    const input = `${header({ alg: 'HS256', kid: '2026-01' })}.${payload}`
    for (const key of [keySet, JSON.stringify(JSON.parse(keySet).keys[0]), JSON.parse(keySet).keys[0].n]) {
      const mac = createHmac('sha256', key).update(input).digest('base64url')
      expect(await outcome('canvas', body(`${input}.${mac}`))).toBe('invalid_signature')
    }
  })

  test('a token of another key or algorithm, or without a kid, is refused', { tags: ['slow'] }, async () => {
    const stranger = keyPair('2026-01')
    const other = await sign('canvas', payloads.canvas, { secret: stranger, now, id: '' })
    expect(await outcome('canvas', received(other))).toBe('invalid_signature')
    const renamed = { ...privateKey, kid: '2025-12' }
    const unknown = await sign('canvas', payloads.canvas, { secret: { privateKey: renamed }, now, id: '' })
    expect(await outcome('canvas', received(unknown))).toBe('invalid_signature')
    for (const protectedHeader of [{ alg: 'RS256' }, { alg: 'PS256', kid: '2026-01' }]) {
      const other = await new CompactSign(Buffer.from(claims))
        .setProtectedHeader(protectedHeader)
        .sign({ ...privateKey, alg: protectedHeader.alg })
      expect(await outcome('canvas', body(other))).toBe('invalid_signature')
    }
  })

  test('a token that brings or names its own key oddly is refused', { tags: ['slow'] }, async () => {
    const { privateKey: own, keySet: ownSet } = keyPair('2026-01')
    const [jwk] = JSON.parse(ownSet).keys
    const signedWith = (
      values: object,
      text = JSON.stringify({ alg: 'RS256', kid: '2026-01', ...values }),
    ) => {
      const input = `${Buffer.from(text).toString('base64url')}.${payload}`
      const key = createPrivateKey({ key: own as JsonWebKey, format: 'jwk' })
      return `${input}.${rsaSignature('sha256', Buffer.from(input), key).toString('base64url')}`
    }
    for (const text of [
      signedWith({ jwk }),
      signedWith({ jku: 'https://evil.example/jwks', x5u: 'https://evil.example/cert' }),
      signedWith({ x5c: ['MIIB'], kid: '../../keys' }),
      ...['__proto__', 'constructor', '', 7, null, ['2026-01'], { kid: '2026-01' }].map((kid) =>
        signedWith({ jwk, kid }),
      ),
      signedWith({ crit: ['jwk'], jwk }),
      signedWith({ crit: ['b64'], b64: false, jwk }),
      signedWith({}, '{"alg":"none","alg":"RS256","kid":"2026-01"}'),
      signedWith({}, '[]'),
      signedWith({}, 'null'),
    ]) {
      expect(await outcome('canvas', body(text))).toBe('invalid_signature')
    }
  })

  test('a token with a header that only takes long to read is refused', async () => {
    const padded = (pad: string) =>
      new CompactSign(Buffer.from(claims))
        .setProtectedHeader({ alg: 'RS256', kid: '2026-01', pad })
        .sign({ ...privateKey, alg: 'RS256' })
    expect(await outcome('canvas', body(await padded('x'.repeat(2000))))).toBe('authentic')
    expect(await outcome('canvas', body(await padded('x'.repeat(4000))))).toBe('invalid_signature')
  })

  test('a token that is cut short or changed anywhere is refused', async () => {
    const whole = await token()
    const [start = '', middle = '', end = ''] = whole.split('.')
    const changed = Buffer.from(claims.replace('"score":5', '"score":9')).toString('base64url')
    for (const text of [
      whole.slice(0, -1),
      whole.slice(0, 40),
      `${start}.${middle}`,
      `${start}.${changed}.${end}`,
      `${start}.${middle}.${end.slice(2)}`,
      `"${whole}`,
      `${whole}.${end}`,
    ]) {
      expect(await outcome('canvas', body(text))).toBe('invalid_signature')
    }
  })

  test('events of other accounts are refused, and all of them where none is named', async () => {
    const delivery = received(await signed('canvas'))
    expect(await outcome('canvas', delivery, { rootAccountUuid: 'another' })).toBe('invalid_signature')
    expect(await outcome('canvas', delivery, { rootAccountUuid: null })).toBe('invalid_signature')
    expect(await outcome('canvas', delivery, { keys: null })).toBe('invalid_signature')
    const caliper = sample('canvas.caliper_grade.composed')
    const anonymous = await sign('canvas', caliper, { secret: { privateKey }, now, id: '' })
    expect(await outcome('canvas', received(anonymous))).toBe('invalid_signature')
  })

  test('exp, nbf and iat count where they are there, and do not make another event of it', async () => {
    const at = (offset: number) => Math.floor(now / 1000) + offset
    const withTimes = async (times: object) =>
      body(
        await new SignJWT({ ...payloads.canvas, ...times })
          .setProtectedHeader({ alg: 'RS256', kid: '2026-01' })
          .sign({ ...privateKey, alg: 'RS256' }),
      )
    const plain = await verify('canvas', received(await signed('canvas')), trust)
    expect(await verify('canvas', await withTimes({ exp: at(60), iat: at(-1) }), trust)).toEqual(plain)
    expect(await outcome('canvas', await withTimes({ exp: at(-301) }))).toBe('timestamp_out_of_range')
    expect(await outcome('canvas', await withTimes({ nbf: at(301) }))).toBe('timestamp_out_of_range')
    expect(await outcome('canvas', await withTimes({ iat: at(301) }))).toBe('timestamp_out_of_range')
  })
})

describe('a secret in the request', () => {
  const query = new URLSearchParams()

  test('Moodle: what cannot be read proves nothing', async () => {
    const text = JSON.stringify({ ...payloads.moodle, token: secret })
    for (const body of ['', 'token', text.slice(0, -1), `{"token":"${secret}","a":${'['.repeat(5000)}`]) {
      expect(await outcome('moodle', { headers: {}, query, rawBody: Buffer.from(body) })).toBe(
        'invalid_signature',
      )
    }
    for (const token of [null, [secret], { [secret]: 1 }, '', `${secret} `]) {
      const rawBody = Buffer.from(JSON.stringify({ ...payloads.moodle, token }))
      expect(await outcome('moodle', { headers: {}, query, rawBody })).toBe('invalid_signature')
    }
  })

  test('the error about an unreadable body contains nothing of it', async () => {
    const text = `{"token":"${secret}" oops`
    const headers = standardHeaders(text)
    const fault = await verify('moodle', { headers, query, rawBody: Buffer.from(text) }, trust).catch(String)
    expect(fault).toBe('DeliveryFault: The payload is not valid JSON.')
  })

  test('Moodle: the key of a delivery tells nothing of the secret', async () => {
    const other = 'another-secret-of-the-site'
    const keyWith = async (value: string) => {
      const delivery = received(await signed('moodle', { secret: value }))
      return (await verify('moodle', delivery, { ...trust, secrets: [value] })).key
    }
    expect(await keyWith(other)).toBe(await keyWith(secret))
  })

  test('Open edX: the password of the address counts as well, two tokens do not', async () => {
    const rawBody = Buffer.from(JSON.stringify(payloads.openedx))
    const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` })
    expect(await outcome('openedx', { headers: basic(`edx:${secret}`), query, rawBody })).toBe('authentic')
    expect(await outcome('openedx', { headers: basic(secret), query, rawBody })).toBe('invalid_signature')
    expect(await outcome('openedx', { headers: basic(`${secret}:`), query, rawBody })).toBe(
      'invalid_signature',
    )
    const two = new URLSearchParams([
      ['token', secret],
      ['token', 'x'],
    ])
    expect(await outcome('openedx', { headers: {}, query: two, rawBody })).toBe('invalid_signature')
  })

  test('Thinkific: the signature is that of the bytes, in hex of either case', async () => {
    const { headers, body } = await signed('thinkific')
    const name = 'x-thinkific-hmac-sha256'
    const right = headers[name] ?? ''
    expect(right).toBe(createHmac('sha256', secret).update(body).digest('hex'))
    const given = (signature: string, text = body) => ({
      headers: { [name]: signature },
      query,
      rawBody: Buffer.from(text),
    })
    expect(await outcome('thinkific', given(right.toUpperCase()))).toBe('authentic')
    expect(await outcome('thinkific', given(right, `${body} `))).toBe('invalid_signature')
    expect(await outcome('thinkific', given(`${right}, ${right}`))).toBe('invalid_signature')
    expect(await outcome('thinkific', given(''))).toBe('invalid_signature')
  })
})
