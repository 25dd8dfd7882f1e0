import { DatabaseSync } from 'node:sqlite'
import sql, { raw } from 'sql-template-tag'
import { expect } from 'vitest'
import { logLine } from '../../../src/server/http/log.ts'
import { onPostgres } from '../../helpers/academy.ts'
import { test } from './flow.ts'

// Another program locks the SQLite file.
const hasty = test.extend('lockWaitMs', () => 0).skipIf(onPostgres)

test('an unexpected fault is server_error, and uses nothing up', async ({ academy, admin, flow }) => {
  const code = await flow.code(admin)
  await academy.database.run(raw('alter table refresh_tokens rename to elsewhere'))
  const answer = await flow.exchange(code)
  expect(answer.status).toBe(500)
  expect(answer.body).toEqual({ error: 'server_error', error_description: expect.any(String) })
  expect(answer.text).not.toMatch(/refresh_tokens|SQLITE/)
  expect(answer.headers.get('cache-control')).toBe('no-store')
  expect(academy.logged.map(logLine).join('')).toMatch(
    /no such table: refresh_tokens|relation .*refresh_tokens.* does not exist/,
  )
  await academy.database.run(raw('alter table elsewhere rename to refresh_tokens'))
  expect(await academy.database.all(sql`select id from grants`)).toEqual([])
  expect((await flow.exchange(code)).status).toBe(200)
})

hasty(
  'while another program holds the database it is temporarily_unavailable, and the code stays good',
  async ({ academy, admin, flow }) => {
    const code = await flow.code(admin)
    const asked = await flow.consent(admin)
    const other = new DatabaseSync(academy.path)
    other.exec('begin immediate')
    const answer = await flow.exchange(code)
    const page = await flow.browser.submit(asked, {}, 'Allow')
    other.exec('rollback')
    other.close()
    expect(answer).toMatchObject({ status: 503, body: { error: 'temporarily_unavailable' } })
    expect(answer.headers.get('retry-after')).toBe('1')
    expect(page).toMatchObject({ status: 503, leadsTo: null })
    expect(page.text).toContain('The database is locked by another process.')
    expect((await flow.exchange(code)).status).toBe(200)
  },
)

test('a user who signs in, allows or denies is named in the log', async ({ academy, flow, learner }) => {
  const page = await flow.consent(learner)
  await flow.browser.submit(page, {}, 'Deny')
  await flow.browser.submit(page, {}, 'Allow')
  const entries = academy.logged.filter(({ path }) => path === '/oauth/authorize').slice(1)
  expect(entries.map(({ method, status, code }) => [method, status, code])).toEqual([
    ['POST', 303, undefined],
    ['GET', 200, undefined],
    ['POST', 303, 'access_denied'],
    ['POST', 303, undefined],
  ])
  for (const entry of entries) expect(entry).toMatchObject({ userId: learner.id, credential: 'browser' })
})
