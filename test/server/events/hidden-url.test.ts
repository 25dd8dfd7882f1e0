import { expect, test } from 'vitest'
import { withoutSecret } from '../../../src/server/events/endpoint-row.ts'

test('a short secret is removed where it stands alone, and other words stay', () => {
  const text = 'Not for pears: "pear" of pear, user p, appear!'
  expect(withoutSecret(text, 'pear')).toBe('Not for pears: "***" of ***, user p, appear!')
  expect(withoutSecret('code a+b(c', 'a+b(c')).toBe('code ***')
  expect(withoutSecret('code a b-c/d$ here', 'a b-c/d$')).toBe('code *** here')
  expect(withoutSecret('HTTP 400: 12 records', '12')).toBe('HTTP 400: 12 records')
})

test('a long secret is removed anywhere, and so are the parts of a URL', () => {
  expect(withoutSecret('xsecret-of-sixteenx', 'secret-of-sixteen')).toBe('x***x')
  const url = 'https://hooks.example/services/T0001/B0001/abcdefgh'
  expect(withoutSecret('POST /services/T0001/B0001/abcdefgh failed', url)).toBe('POST *** failed')
})
