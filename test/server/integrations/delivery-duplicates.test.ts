import { DatabaseSync } from 'node:sqlite'
import { expect } from 'vitest'
import { onPostgres, test } from '../../helpers/academy.ts'
import { connect } from '../../helpers/lms.ts'
import { sample } from '../../lms/samples.ts'

test('the same delivery from several connections at once is applied by one of them', async ({
  academy,
  admin,
}) => {
  const standard = await connect(academy, admin, 'standard')
  const { id } = (await admin.post('/v1/courses', { title: 'Logic', externalId: 'BIO-101' })).body
  const { id: userId } = (await admin.post('/v1/users', { email: 'ada@example.org' })).body
  await admin.post('/v1/enrollments', { courseId: id, userId, enrolledAt: '2010-01-01T00:00:00Z' })
  const delivery = await standard.signed(sample('standard.grade_updated.composed'))
  const answers = await Promise.all(Array.from({ length: 4 }, () => standard.send(delivery)))
  const statuses = answers.map(({ body }) => body.status).sort()
  expect(statuses).toEqual(['applied', 'duplicate', 'duplicate', 'duplicate'])
  expect(new Set(answers.map(({ body }) => body.deliveryId)).size).toBe(1)
  const { data } = (await admin.get('/v1/grades')).body
  expect(data).toMatchObject([{ version: 1 }])
})

test.skipIf(onPostgres)('a duplicate waits for no write of another program', async ({ academy, admin }) => {
  const standard = await connect(academy, admin, 'standard')
  const delivery = await standard.signed(sample('standard.grade_updated.composed'))
  const { deliveryId } = (await standard.send(delivery)).body
  const other = new DatabaseSync(academy.path)
  other.exec('begin immediate')
  expect((await standard.send(delivery)).body).toEqual({ status: 'duplicate', deliveryId })
  other.exec('rollback')
  other.close()
})
