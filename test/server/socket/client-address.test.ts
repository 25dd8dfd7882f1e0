import { expect, test } from 'vitest'
import { clientAddressOf } from '../../../src/server/socket/node-adapter.ts'

const proxies = ['10.0.0.0/8', '192.0.2.9', '2001:db8:5::/48']

/** Forwarding headers, and the address that they lead to; the default peer is the proxy 10.0.0.1. */
const ways: readonly (readonly [string, Record<string, string>, string, string?])[] = [
  ['nothing', {}, '10.0.0.1'],
  ['one client', { 'x-forwarded-for': '198.51.100.1' }, '198.51.100.1'],
  [
    'what a client wrote before the proxy did',
    { 'x-forwarded-for': '203.0.113.5, 198.51.100.1' },
    '198.51.100.1',
  ],
  ['two proxies', { 'x-forwarded-for': '203.0.113.5, 198.51.100.1, 10.9.9.9' }, '198.51.100.1'],
  ['proxies alone', { 'x-forwarded-for': '10.1.1.1, 10.9.9.9' }, '10.1.1.1'],
  ['a port', { 'x-forwarded-for': '198.51.100.1:5000' }, '198.51.100.1'],
  ['IPv6 with a port', { 'x-forwarded-for': '[2001:DB8::1]:5000' }, '2001:db8::1'],
  ['an address that the proxy cannot name', { 'x-forwarded-for': '203.0.113.5, unknown' }, '10.0.0.1'],
  ['an empty list', { 'x-forwarded-for': '' }, '10.0.0.1'],
  ['no address', { 'x-forwarded-for': '999.1.1.1' }, '10.0.0.1'],
  ['Forwarded', { forwarded: 'for=203.0.113.5, for=198.51.100.1;proto=https;by=10.0.0.1' }, '198.51.100.1'],
  [
    'Forwarded, in another order and case',
    { forwarded: 'proto=https; For="[2001:db8::1]:47"' },
    '2001:db8::1',
  ],
  ['Forwarded with a hidden name', { forwarded: 'for=203.0.113.5, for=_hidden' }, '10.0.0.1'],
  ['Forwarded without for', { forwarded: 'proto=https' }, '10.0.0.1'],
  [
    'both, of one client',
    { forwarded: 'for=198.51.100.1', 'x-forwarded-for': '198.51.100.1' },
    '198.51.100.1',
  ],
  ['both, of two clients', { forwarded: 'for=203.0.113.5', 'x-forwarded-for': '198.51.100.1' }, '10.0.0.1'],
  ['a peer that is no proxy', { 'x-forwarded-for': '203.0.113.5' }, '198.51.100.7', '198.51.100.7'],
  ['a proxy of one address', { 'x-forwarded-for': '198.51.100.1' }, '198.51.100.1', '192.0.2.9'],
  ['its neighbour', { 'x-forwarded-for': '198.51.100.1' }, '192.0.2.8', '192.0.2.8'],
  ['an IPv6 proxy', { 'x-forwarded-for': '198.51.100.1' }, '198.51.100.1', '2001:db8:5::1'],
  ['a proxy that came over IPv6', { 'x-forwarded-for': '198.51.100.1' }, '198.51.100.1', '::ffff:10.0.0.1'],
]

test.for(ways)('told of %s', ([, headers, address, peer = '10.0.0.1']) => {
  expect(clientAddressOf(proxies)(peer, headers)).toBe(address)
})

test('without a trusted proxy no header is believed', () => {
  const headers = { forwarded: 'for=203.0.113.5', 'x-forwarded-for': '203.0.113.5' }
  expect(clientAddressOf([])('127.0.0.1', headers)).toBe('127.0.0.1')
})
