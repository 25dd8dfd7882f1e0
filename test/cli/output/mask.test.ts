import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { maskCredential, maskSecrets } from '../../../src/cli/output/mask.ts'
import { operations } from '../../../src/contract/index.ts'

/** Names of all fields marked as write-only, at any depth. */
function writeOnly(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  return Object.entries(schema).flatMap(([name, member]) =>
    typeof member === 'object' && member?.writeOnly === true ? [name] : writeOnly(member),
  )
}

describe('a secret', () => {
  const bodies = operations.flatMap(({ body }) =>
    body ? [z.toJSONSchema(body, { io: 'input', unrepresentable: 'any' })] : [],
  )
  const shownOnce = operations.flatMap(({ secret }) => (secret ? [secret] : []))
  const names = [...new Set([...bodies.flatMap(writeOnly), ...shownOnce])]

  test.each(names)('called %s is masked at any depth', (name) => {
    const body = { title: 'Go', [name]: 'x', users: [{ [name]: 'y', role: 'admin' }] }
    expect(maskSecrets(body)).toEqual({
      title: 'Go',
      [name]: '***',
      users: [{ [name]: '***', role: 'admin' }],
    })
  })

  test.each([
    ['currentPassword'],
    ['accessToken'],
    ['webhookSecrets'],
    ['clientSecret'],
    ['api_key'],
    ['refresh_token'],
  ])('called %s is masked as well', (name) => {
    expect(maskSecrets({ [name]: ['a'] })).toEqual({ [name]: '***' })
  })
})

test.each([
  ['lpk_0123456789012345678901234567890123aB3x', 'lpk_***aB3x'],
  ['sk-live-01234567890123456789', '***6789'],
  ['short', '***'],
])('the credential %s is shown as %s', (value, shown) => {
  expect(maskCredential(value)).toBe(shown)
})
