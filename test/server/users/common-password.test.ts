import { readFileSync } from 'node:fs'
import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { test } from '../../helpers/academy.ts'
import { givePassword, password } from '../oauth/flow.ts'

const common = [
  'qwertyuiop12',
  'QwertyUiop12',
  '123456789987654321',
  'passwordpassword',
  'abc123abc123',
  'dragondragondragon',
  'aaaaaaaaaaaa',
  '            ',
]

const fault = { pointer: '#/password', code: 'common_password' }

test.for(common)('%j is refused wherever a password is set', async (guess, { academy, admin, learner }) => {
  await givePassword(academy, learner.id)
  const user = { email: 'ada@school.example', password: guess }
  const answers = await Promise.all([
    admin.post('/v1/users', user),
    admin.put(`/v1/users/${learner.id}`, { password: guess }),
    learner.put('/v1/user/profile', { password: guess, currentPassword: password }),
  ])
  for (const { status, body } of answers) {
    expect({ status, errors: body.errors }).toMatchObject({ status: 422, errors: [fault] })
  }
  const { body } = await admin.post('/v1/users/batch', { items: [user, { ...user, password }] })
  expect(body.results).toMatchObject([{ status: 422, errors: [fault] }, { status: 201 }])
})

test('it is reported with all other problems', async ({ admin }) => {
  const { body } = await admin.post('/v1/users', { email: 'ada', password: 'qwertyuiop12' })
  const pointers = body.errors.map(({ pointer }: { pointer: string }) => pointer)
  expect(pointers.toSorted()).toEqual(['#/email', '#/password'])
})

test('a common one that a user already has can be replaced, but not set', async ({ academy, learner }) => {
  await givePassword(academy, learner.id, 'aaaaaaaaaaaa')
  const change = { password: 'correct horse staple', currentPassword: 'aaaaaaaaaaaa' }
  expect((await learner.put('/v1/user/profile', change)).status).toBe(200)
  expect(await academy.database.all(sql`select id from users where password_hash is not null`)).toHaveLength(
    1,
  )
})

test('a long text of words that are common one by one is a good password', async ({ admin }) => {
  const body = { email: 'ada@school.example', password: 'dragon monkey letmein' }
  expect((await admin.post('/v1/users', body)).status).toBe(201)
})

test('the list has the ten thousand most common, and its source and licence beside it', () => {
  const file = (name: string) =>
    readFileSync(new URL(`../../../src/common-passwords/${name}`, import.meta.url), 'utf8')
  const list = file('passwords.txt').trimEnd().split('\n')
  expect(new Set(list).size).toBeGreaterThan(10_000)
  expect(list.slice(0, 3)).toEqual(['123456', 'password', '12345678'])
  expect(list.every((line) => line === line.toLowerCase() && line !== '')).toBe(true)
  expect(file('README.md')).toMatch(/Source: [\s\S]*Licence:[\s\S]*Copyright/)
})
