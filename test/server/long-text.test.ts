import { expect } from 'vitest'
import { test } from '../helpers/academy.ts'
import { plainBrowser } from '../helpers/browser.ts'

/** Ordering the extensions of this tag compares each with each: eleven seconds. */
const language = `en-u-${Array.from({ length: 50_000 }, (_, index) => `v${10_000 + index}`).join('-')}`

test.for([
  ['a language', { profile: { locale: language } }, '#/profile/locale'],
  [
    'a preferred language',
    { profile: { learningPreferences: { languages: [language] } } },
    '#/profile/learningPreferences/languages/0',
  ],
  ['a time zone', { profile: { timezone: 'Etc/'.repeat(200_000) } }, '#/profile/timezone'],
  ['a web address', { profile: { avatarUrl: `https://xn--${'a'.repeat(900_000)}` } }, '#/profile/avatarUrl'],
  ['a password', { password: 'e\u0300\u0315'.repeat(100_000), currentPassword: 'a' }, '#/password'],
  [
    'the current password',
    { password: 'a', currentPassword: 'e\u0300\u0315'.repeat(100_000) },
    '#/currentPassword',
  ],
] as const)(
  '%s that is too long is told as that alone: nothing else is done with it',
  async ([, body, pointer], { learner }) => {
    const { status, body: problem } = await learner.put('/v1/user/profile', body)
    expect(status).toBe(422)
    const faults = (problem.errors as { pointer: string; code: string }[]).filter(
      (fault) => fault.pointer === pointer,
    )
    expect(faults.map(({ code }) => code)).toEqual(['too_long'])
  },
)

test('a too long e-mail address or redirect URI is reported as such', async ({ admin }) => {
  const user = await admin.post('/v1/users', { email: `a@a${'.a'.repeat(400_000)}@` })
  expect(user.body.errors).toEqual([expect.objectContaining({ pointer: '#/email', code: 'too_long' })])
  const app = await admin.post('/v1/apps', { name: 'a', redirectUris: [`https://a${'.a'.repeat(400_000)}@`] })
  expect(app.body.errors).toEqual([
    expect.objectContaining({ pointer: '#/redirectUris/0', code: 'too_long' }),
  ])
})

test('a batch looks up no reference that is too long to be one', async ({ admin }) => {
  const long = 'a'.repeat(400_000)
  const items = [{ email: `${long}@school.example`, externalId: long }]
  const { body } = await admin.post('/v1/users/batch', { items, onExists: 'update' })
  expect(body.results).toEqual([expect.objectContaining({ status: 422 })])
})

test('a time with a thousand digits of a second is none', async ({ admin, learner }) => {
  const time = (digits: number) => `2026-01-01T00:00:00.${'1'.repeat(digits)}Z`
  const key = (expiresAt: string) => admin.post('/v1/keys', { name: 'a', userId: learner.id, expiresAt })
  expect((await key(time(9).replace('2026', '2027'))).status).toBe(201)
  expect((await key(time(1000))).body.errors).toEqual([expect.objectContaining({ code: 'invalid_time' })])
})

test('eight thousand slashes lead to the page without them, or none', async ({ academy }) => {
  const browser = plainBrowser(academy.fetch, 'http://localhost')
  const slashes = '/'.repeat(8000)
  expect((await browser.open(`/dashboard${slashes}`)).url).toBe('http://localhost/dashboard')
  expect((await browser.open(`/dashboard${slashes}x`)).status).toBe(404)
})
