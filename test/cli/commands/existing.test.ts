import { beforeEach, describe, expect } from 'vitest'
import { type TestCli, test } from '../../helpers/cli.ts'
import { ran, resultOf, rowsOf } from '../../helpers/result.ts'

beforeEach<{ local: TestCli }>(async ({ local }) => {
  await local.run('courses create --title Sea --external-id sea --status published')
  await local.run('users create --email ada@school.example --external-id S-1')
})

const creates = [
  ['courses', '--title Land --external-id land', '--title Soil'],
  ['users', '--email bob@school.example', '--role analyst'],
  ['users', '--email bob@school.example --external-id S-2', '--role analyst'],
  ['lessons', '--course sea --title Tides --external-id tides', '--title Waves'],
  ['enrollments', '--course sea --user S-1', '--status inactive'],
  ['enrollments', '--course sea --user S-1 --role instructor', '--status inactive'],
] as const

describe.each(creates)('%s create %s', (noun, key, change) => {
  test('--if-not-exists prints the same id and changes nothing', { tags: ['slow'] }, async ({ local }) => {
    const line = `${noun} create ${key} --if-not-exists`
    const first = await local.run(`${line} -q`)
    expect(first).toMatchObject({ code: 0, stderr: '' })
    const before = await resultOf(local, `${noun} get ${first.stdout.trim()}`)
    const [flag = ''] = change.split(' ')
    const other = `${line.replace(new RegExp(`${flag} \\w+`), '')} ${change} -q`
    expect(await local.run(other)).toEqual(first)
    expect(await resultOf(local, `${noun} get ${first.stdout.trim()}`)).toEqual(before)
  })

  test('--upsert creates it, then changes it, and prints it', { tags: ['slow'] }, async ({ local }) => {
    const made = await resultOf(local, `${noun} create ${key} --upsert`)
    const [flag = '', value = ''] = change.split(' ')
    const without = key.replace(new RegExp(`${flag} \\w+`), '')
    const changed = await resultOf(local, `${noun} create ${without} ${change} --upsert`)
    expect(changed).toMatchObject({ id: made.id, version: 2, [flag.slice(2)]: value })
    expect(Object.keys(changed)).toEqual(Object.keys(made))
    const again = await local.run(`${noun} create ${without} ${change} --upsert`, { tty: 120 })
    expect(again).toMatchObject({ code: 0, stderr: expect.stringMatching(/^No changes to .*, version 2\n$/) })
  })
})

test('two at once make one, and both print its id', async ({ local }) => {
  const line = 'users create --email eve@school.example --if-not-exists -q'
  const [one, other] = await Promise.all([local.run(line), local.run(line)])
  expect(one).toMatchObject({ code: 0, stderr: '' })
  expect(other).toEqual(one)
  expect(await rowsOf(local, 'users list --email eve@school.example')).toHaveLength(1)
})

test('an address with another external id is a conflict', { tags: ['slow'] }, async ({ local }) => {
  for (const flag of ['--if-not-exists', '--upsert']) {
    const line = `users create --email ada@school.example --external-id S-9 ${flag}`
    expect(await local.run(line)).toMatchObject({ code: 6, stdout: '' })
  }
  expect(await resultOf(local, 'users get S-1')).toMatchObject({ externalId: 'S-1', version: 1 })
})

test('a user by address alone gets the external id that was given', async ({ local }) => {
  const { id } = await resultOf(local, 'users create --email eve@school.example')
  const line = 'users create --email eve@school.example --external-id S-5 --upsert'
  expect(await resultOf(local, line)).toMatchObject({ id, externalId: 'S-5' })
})

test.for([['--external-id S-1 --email ada@school.example'], ['--email ada@school.example']])(
  'a deleted user %s is neither taken for one who exists nor restored',
  async ([key = ''], { local }) => {
    await local.run('users delete S-1 --yes')
    const { code, stderr } = await local.run(`users create ${key} --if-not-exists`)
    expect(code).toBe(6)
    expect(stderr).toContain('deleted')
    expect(await resultOf(local, 'users get S-1')).toMatchObject({ status: 'deleted' })
  },
)

test('without a key the flag that gives one is named', async ({ local }) => {
  expect((await ran(local, 'courses create --title Sea --if-not-exists', 2)).stderr).toContain(
    '--if-not-exists requires --external-id',
  )
  expect(
    await local.run('courses create --title Sea --external-id sea --if-not-exists --upsert'),
  ).toMatchObject({ code: 2 })
})

test('a key of the same name and owner is not made or shown twice', { tags: ['slow'] }, async ({ local }) => {
  const line = 'keys create --name ci --if-not-exists'
  const first = await resultOf(local, line)
  expect(first.key).toMatch(/^lpk_/)
  const second = await resultOf(local, line)
  expect(second.id).toBe(first.id)
  expect(second.key ?? null).toBeNull()
  expect(await local.run(`${line} -q`)).toEqual({ code: 0, stdout: `${first.id}\n`, stderr: '' })
  await local.run('keys create --name ci --user S-1 --if-not-exists')
  await local.run('keys revoke ci --yes')
  expect(await rowsOf(local, 'keys list')).toHaveLength(2)
})
