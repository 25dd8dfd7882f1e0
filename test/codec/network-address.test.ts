import { expect, test } from 'vitest'
import { isNetwork } from '../../src/codec/network-address.ts'

test.for(['10.0.0.0/8', '192.0.2.1', '192.0.2.1/32', '::1', '2001:db8::/32', '::/0'])('%s is one', (text) => {
  expect(isNetwork(text)).toBe(true)
})

test.for([
  '',
  '10.0.0.0/33',
  '10.0.0/8',
  '::/129',
  '10.0.0.0/',
  '10.0.0.0/-1',
  '10.0.0.0/8/8',
  'proxy.example',
  '*',
])('%s is none', (text) => {
  expect(isNetwork(text)).toBe(false)
})
