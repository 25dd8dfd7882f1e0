import { expect, test } from 'vitest'
import { networkErrorOf } from '../../src/client/undici.ts'

const request = { method: 'GET', url: 'https://academy.example/v1/courses?q=1', headers: {} }
const moment = { part: 'head', connectTimeoutMs: 5000 } as const
const wire = (code: string, message = 'm') => Object.assign(new Error(message), { code })

test.each([
  ['ECONNREFUSED', 'refused'],
  ['ENOTFOUND', 'unresolved'],
  ['EAI_AGAIN', 'unresolved'],
  ['EHOSTUNREACH', 'unreachable'],
  ['ECONNRESET', 'reset'],
  ['UND_ERR_SOCKET', 'reset'],
  ['CERT_HAS_EXPIRED', 'tls'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'tls'],
  ['UND_ERR_PRX_TLS', 'proxy'],
  ['ESOMETHING', 'failed'],
])('%s is a connection that is %s', (wireCode, code) => {
  const cause = wire(wireCode)
  const error = networkErrorOf(request, cause, moment)
  expect(error).toMatchObject({ name: 'ConnectionError', code, cause, url: request.url })
  expect(String(error)).toMatch(/^ConnectionError: .*\bacademy\.example\b.* \(GET \/v1\/courses\)$/)
})

test('a certificate that is not trusted is told without advice on Node', () => {
  const message =
    'self-signed certificate; if the root CA is installed locally, try running Node.js with --use-system-ca'
  expect(networkErrorOf(request, wire('DEPTH_ZERO_SELF_SIGNED_CERT', message), moment)).toMatchObject({
    code: 'tls',
    message:
      'Cannot establish a trusted TLS connection to academy.example: self-signed certificate (GET /v1/courses)',
  })
})

test('any fault within a body cuts it short', () => {
  for (const code of ['ECONNRESET', 'UND_ERR_SOCKET', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH', '']) {
    expect(networkErrorOf(request, wire(code), { ...moment, part: 'body' })).toMatchObject({
      code: 'cut_short',
    })
  }
})

test('a timeout, a parser fault, a header that cannot be written and a proxy that refuses have names of their own', () => {
  expect(networkErrorOf(request, wire('UND_ERR_CONNECT_TIMEOUT'), moment)).toMatchObject({
    code: 'connect_timeout',
    message: 'Connection to academy.example timed out after 5 s (GET /v1/courses)',
  })
  expect(networkErrorOf(request, wire('UND_ERR_HEADERS_OVERFLOW'), moment)).toMatchObject({
    code: 'not_http',
  })
  expect(
    networkErrorOf(request, wire('UND_ERR_INVALID_ARG', 'invalid authorization header'), moment),
  ).toMatchObject({
    name: 'RequestError',
    code: 'invalid_header',
  })
  const refusal = 'Proxy response (403) !== 200 when HTTP Tunneling'
  const proxy = {
    ...{ url: 'http://proxy.example:3128', host: 'proxy.example:3128' },
    ...{ variable: 'HTTPS_PROXY', authorization: undefined },
  }
  expect(networkErrorOf(request, wire('UND_ERR_ABORTED', refusal), { ...moment, proxy })).toMatchObject({
    code: 'proxy',
    message:
      'The proxy proxy.example:3128 refused to connect to academy.example: it returned 403 (GET /v1/courses)',
  })
})

test('the reason of an aborted request and what is no error pass as they are', () => {
  const reason = new Error('enough')
  expect(networkErrorOf({ ...request, signal: AbortSignal.abort(reason) }, wire('ECONNRESET'), moment)).toBe(
    reason,
  )
  expect(networkErrorOf(request, 'thrown', moment)).toBe('thrown')
})
