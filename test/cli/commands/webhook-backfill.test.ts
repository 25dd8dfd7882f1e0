import { expect } from 'vitest'
import { test } from '../../helpers/cli.ts'
import { ran } from '../../helpers/result.ts'

test('a record store is created with its password, and gets the past', async ({ remote, admin }) => {
  await remote.run('auth login --with-key --url https://school.example', { stdin: admin.key })
  const { id: courseId } = (await admin.post('/v1/courses', { title: 'Sea', status: 'published' })).body
  for (let index = 0; index < 3; index += 1) {
    const { id } = (await admin.post('/v1/users', { email: `l${index}@school.example` })).body
    await admin.put(`/v1/learners/${id}/progress`, { courseId, completionPercentage: 100 })
  }
  const flags =
    '--kind xapi --to https://lrs.example/xapi --username academy --password-stdin --xapi-version 2.0.0'
  const created = await remote.run(`webhooks endpoints create ${flags} -o json`, { stdin: 'a secret\n' })
  expect(created.stderr).toBe('')
  expect(created.stdout).not.toContain('a secret')
  const { id, xapi, secret } = JSON.parse(created.stdout)
  expect([xapi.username, xapi.xapiVersion, secret]).toEqual(['academy', '2.0.0', null])
  expect(await remote.run(`webhooks endpoints backfill ${id}`)).toEqual({
    code: 0,
    stdout: '',
    stderr: `Queued 6 messages for webhook endpoint ${id}\n`,
  })
  expect(await remote.run(`webhooks endpoints backfill ${id} --end-date 2000-01-01 -o json`)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('"queued": 0'),
  })
  expect(await remote.run('webhooks endpoints backfill whe_none')).toMatchObject({ code: 3 })
  const other = await remote.run('webhooks endpoints create --to https://lms.example.org/hooks -o json')
  expect(
    (await ran(remote, `webhooks endpoints backfill ${JSON.parse(other.stdout).id}`, 2)).stderr,
  ).toContain(
    'error: Webhook endpoint https://lms.example.org/hooks is of kind standard; only one of kind xapi takes statements',
  )
})
