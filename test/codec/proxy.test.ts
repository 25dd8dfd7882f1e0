import { describe, expect, test } from 'vitest'
import { listProxies, readProxies } from '../../src/codec/proxy.ts'

const far = new URL('https://academy.example/v1/courses')
const proxy = 'http://proxy.example:3128'

test.each([
  ['HTTPS_PROXY', 'https://academy.example', proxy],
  ['https_proxy', 'https://academy.example', proxy],
  ['HTTP_PROXY', 'http://academy.example', proxy],
  ['http_proxy', 'http://academy.example', proxy],
  ['ALL_PROXY', 'https://academy.example', proxy],
  ['all_proxy', 'http://academy.example', proxy],
  ['HTTP_PROXY', 'https://academy.example', undefined],
  ['HTTPS_PROXY', 'http://academy.example', undefined],
])('%s: %s goes through %s', (variable, url, expected) => {
  expect(readProxies({ [variable]: proxy })(new URL(url))?.url).toBe(expected)
})

test('the lower-case name comes first, and what is for one scheme before ALL_PROXY; an empty one is not set', () => {
  const env = { https_proxy: 'a:1', HTTPS_PROXY: 'b:2', ALL_PROXY: 'c:3' }
  expect(readProxies(env)(far)).toMatchObject({ host: 'a:1', variable: 'https_proxy' })
  expect(readProxies({ ...env, https_proxy: '' })(far)?.host).toBe('b:2')
  expect(readProxies({ https_proxy: '', HTTPS_PROXY: ' ', ALL_PROXY: 'c:3' })(far)?.host).toBe('c:3')
  expect(readProxies({ HTTPS_PROXY: '', NO_PROXY: 'x' })(far)).toBeNull()
  expect(listProxies(env)).toMatchObject([{ variable: 'https_proxy' }, { variable: 'ALL_PROXY' }])
})

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`

test.each([
  ['proxy.example:3128', proxy, undefined],
  ['localhost:8080', 'http://localhost:8080', undefined],
  ['10.0.0.1:8080', 'http://10.0.0.1:8080', undefined],
  ['ada:lovelace@proxy.example:3128', proxy, basic('ada:lovelace')],
  ['http://ada:p%40ss%3A@proxy.example:3128/', proxy, basic('ada:p@ss:')],
  ['http://ada:100%@proxy.example:3128', proxy, basic('ada:100%')],
  ['https://token@proxy.example', 'https://proxy.example', basic('token:')],
])('%s is the proxy %s', (value, url, authorization) => {
  expect(readProxies({ HTTPS_PROXY: value })(far)).toMatchObject({ url, authorization })
})

test.each(['http://', '::', 'http://ada:pa/ss@proxy.example', 'a b', 'http://[::1', 'proxy.example:99999'])(
  '%s is refused, and not shown',
  (value) => {
    const find = readProxies({ https_proxy: value })
    expect(() => find(far)).toThrow(
      /^https_proxy must be the URL of a proxy, such as http:\/\/proxy\.example:3128$/,
    )
  },
)

test('a proxy of another kind is named', () => {
  expect(() => readProxies({ ALL_PROXY: 'socks5://ada:pass@proxy.example:1080' })(far)).toThrow(
    /^ALL_PROXY must be the URL of an http or https proxy; socks5 proxies are not supported$/,
  )
})

describe('NO_PROXY', () => {
  test.each([
    ['*', 'https://academy.example', true],
    ['none.invalid, *', 'https://academy.example', true],
    ['academy.example', 'https://academy.example', true],
    ['ACADEMY.example.', 'https://academy.example', true],
    ['academy.example', 'https://academy.example.', true],
    ['academy.example', 'https://www.academy.example', true],
    ['academy.example', 'https://my-academy.example', false],
    ['.example', 'https://academy.example', true],
    ['.academy.example', 'https://academy.example', true],
    ['*.academy.example', 'https://www.academy.example', true],
    ['*.academy.example', 'https://academy.example', false],
    ['academy.example:8443', 'https://academy.example:8443', true],
    ['academy.example:8443', 'https://academy.example', false],
    ['academy.example:443', 'https://academy.example', true],
    ['other.example academy.example', 'https://academy.example', true],
    ['10.1.2.3', 'https://10.1.2.3', true],
    ['2.3', 'https://10.1.2.3', false],
    ['10.0.0.0/8', 'https://10.1.2.3:8443', true],
    ['10.0.0.0/8', 'https://11.1.2.3', false],
    ['10.0.0.0/8', 'https://academy.example', false],
    ['2001:db8::1', 'https://[2001:db8::1]', true],
    ['2001:DB8:0::1', 'https://[2001:db8::1]', true],
    ['[2001:db8::1]:8443', 'https://[2001:db8::1]:8443', true],
    ['[2001:db8::1]:8443', 'https://[2001:db8::1]', false],
    ['2001:db8::/32', 'https://[2001:db8::9]', true],
    ['', 'https://academy.example', false],
  ])('%j and %s: direct is %s', (noProxy, url, isDirect) => {
    for (const name of ['NO_PROXY', 'no_proxy']) {
      expect(readProxies({ ALL_PROXY: proxy, [name]: noProxy })(new URL(url)) === null).toBe(isDirect)
    }
  })

  test.each([
    'http://localhost:4700',
    'http://a.localhost',
    'http://127.0.0.1',
    'https://127.9.9.9',
    'http://[::1]',
  ])('%s never goes through a proxy', (url) =>
    expect(readProxies({ ALL_PROXY: proxy })(new URL(url))).toBeNull(),
  )
})
