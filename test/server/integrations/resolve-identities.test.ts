import sql from 'sql-template-tag'
import { expect } from 'vitest'
import type { Candidate } from '../../../src/lms/event.ts'
import { resolveIdentities } from '../../../src/server/integrations/apply-event.ts'
import { type Person, type TestAcademy, test } from '../../helpers/academy.ts'

async function map(academy: TestAcademy, noun: string, key: string, target: string): Promise<void> {
  await academy.database.run(sql`
    insert into integration_mappings (id, lms_kind, noun, external_key, target_id, version, created_at, updated_at)
    values (${`map_${noun}${key}`}, 'canvas', ${noun}, ${key}, ${target}, 1, '', '')`)
}

const found = async (
  academy: TestAcademy,
  noun: 'course' | 'user',
  ...candidates: [Candidate['by'], string][]
) => {
  const meant = { course: [], user: [], [noun]: candidates.map(([by, value]) => ({ by, value })) }
  return (await resolveIdentities(academy.database, 'canvas', meant))[noun]
}

const course = async (admin: Person, title: string, externalId?: string): Promise<string> =>
  (await admin.post('/v1/courses', { title, externalId })).body.id

test('a mapping counts before the external id, in the order of the keys', async ({ academy, admin }) => {
  const [one, other, third] = [
    await course(admin, 'One', 'sis-1'),
    await course(admin, 'Other'),
    await course(admin, 'Third'),
  ]
  await map(academy, 'course', '21070000000000565', other)
  await map(academy, 'course', '565', third)
  expect(await found(academy, 'course', ['externalId', 'sis-1'], ['key', '21070000000000565'])).toBe(other)
  expect(await found(academy, 'course', ['key', '565'], ['key', '21070000000000565'])).toBe(third)
  expect(await found(academy, 'course', ['key', '7'], ['externalId', 'sis-1'])).toBe(one)
  expect(await found(academy, 'course', ['reference', 'ext:sis-1'])).toBe(one)
  expect(await found(academy, 'course', ['reference', one])).toBe(one)
})

test('a key is one of its system and its noun alone', async ({ academy, admin }) => {
  await map(academy, 'course', '565', await course(admin, 'One'))
  expect(await found(academy, 'user', ['key', '565'])).toBeNull()
  const elsewhere = [{ by: 'key', value: '565' }] as const
  expect(
    (await resolveIdentities(academy.database, 'moodle', { course: elsewhere, user: [] })).course,
  ).toBeNull()
})

test('an e-mail address finds its user in any case; an unknown one finds none', async ({
  academy,
  learner,
}) => {
  expect(await found(academy, 'user', ['email', learner.email.toUpperCase()])).toBe(learner.id)
  expect(await found(academy, 'user', ['reference', learner.email])).toBe(learner.id)
  expect(await found(academy, 'course', ['email', learner.email])).toBeNull()
  expect(await found(academy, 'user', ['email', 'nobody@school.example'], ['externalId', 'x'])).toBeNull()
  expect(await found(academy, 'user')).toBeNull()
})

test('a deleted record is not found, not even by a mapping, until it is restored', async ({
  academy,
  admin,
  learner,
}) => {
  const id = await course(admin, 'One', 'sis-1')
  await course(admin, 'Other', 'sis-2')
  await map(academy, 'course', '565', id)
  await map(academy, 'user', '48', learner.id)
  await admin.delete(`/v1/courses/${id}`)
  await admin.delete(`/v1/users/${learner.id}`)
  // The mapping decides, even if another course matches by chance.
  expect(await found(academy, 'course', ['key', '565'], ['externalId', 'sis-2'])).toBeNull()
  expect(await found(academy, 'course', ['externalId', 'sis-1'])).toBeNull()
  expect(await found(academy, 'user', ['key', '48'], ['email', learner.email])).toBeNull()
  expect(await found(academy, 'user', ['reference', learner.id])).toBeNull()
  await admin.post(`/v1/deleted-courses/${id}/restore`)
  await admin.put(`/v1/users/${learner.id}`, { status: 'active' })
  expect(await found(academy, 'course', ['key', '565'])).toBe(id)
  expect(await found(academy, 'user', ['key', '48'])).toBe(learner.id)
})
