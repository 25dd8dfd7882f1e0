import { readFileSync } from 'node:fs'
import sql, { raw } from 'sql-template-tag'
import { expect } from 'vitest'
import { deviceGrantType } from '../../../src/contract/oauth.ts'
import { logLine } from '../../../src/server/http/log.ts'
import { onPostgres, type Person, type TestAcademy } from '../../helpers/academy.ts'
import { authorizePath, type Flow, password, register, test, verifier } from './flow.ts'

/** Runs all flows, valid and invalid ones; returns every secret that occurred. */
async function secretsOfAllWays(academy: TestAcademy, admin: Person, flow: Flow): Promise<string[]> {
  const { clientId: client_id, clientSecret } = await register(academy)
  const client_secret = clientSecret ?? ''
  const code = await flow.code(admin)
  const first = (await flow.exchange(code)).body
  const second = (await flow.refresh(first.refresh_token)).body
  const foreign = await flow.tokens(admin, { client_id, client_secret })
  const unused = await flow.code(admin)
  const device = (await flow.send('/oauth/device_authorization', { client_id: 'learnctl' })).body
  const page = await flow.browser.open(device.verification_uri_complete)
  await flow.browser.submit(await flow.browser.submit(page, {}, 'Continue'), {}, 'Allow')
  const grant = { grant_type: deviceGrantType, client_id: 'learnctl', device_code: device.device_code }
  const third = (await flow.send('/oauth/token', grant)).body
  const waiting = (await flow.send('/oauth/device_authorization', { client_id: 'learnctl' })).body
  await academy.bearer(`Bearer ${second.access_token}`).get('/v1/courses')
  await academy.bearer(undefined).get(`/v1/courses?access_token=${second.access_token}`)
  await flow.browser.open(`/oauth/token?code=${unused}&client_secret=${client_secret}`)
  await flow.browser.open(
    `${authorizePath({ client_id: 'app_none' })}&code=${unused}&token=${first.refresh_token}`,
  )
  await flow.send(`/oauth/revoke?token=${third.refresh_token}`, {
    client_id,
    client_secret: `${client_secret}a`,
  })
  await flow.exchange(unused, { code_verifier: 'a'.repeat(43) })
  await flow.refresh(first.refresh_token)
  const wrong = { account: admin.email, password: `${password} wrong` }
  const cookies = [...flow.browser.cookies.values()]
  flow.browser.forget()
  await flow.browser.submit(await flow.authorize(), wrong)
  cookies.push(...flow.browser.cookies.values())
  const csrf = (await flow.authorize()).forms[0]?.fields['csrf'] ?? ''
  return [
    code,
    unused,
    client_secret,
    password,
    verifier,
    csrf,
    ...cookies,
    ...[first, second, third, foreign].flatMap(({ access_token, refresh_token }) => [
      access_token,
      refresh_token,
    ]),
    ...[device, waiting].flatMap(({ device_code, user_code }) => [device_code, user_code.replace('-', '')]),
  ]
}

test('no token, code, secret or password is in the database', async ({ academy, admin, flow }) => {
  const secrets = await secretsOfAllWays(academy, admin, flow)
  const tables = await academy.database.all<{ name: string }>(
    onPostgres
      ? sql`select tablename as name from pg_tables where schemaname = 'public'`
      : // A search index has no rows of its own.
        sql`select name from sqlite_schema where type = 'table' and rootpage > 0`,
  )
  const rows = tables.map(({ name }) => academy.database.all(raw(`select * from "${name}"`)))
  const dump = JSON.stringify(await Promise.all(rows))
  // PostgreSQL's files are not readable; its tables hold all data.
  const files = onPostgres
    ? dump
    : [academy.path, `${academy.path}-wal`].map((path) => readFileSync(path, 'latin1')).join('')
  expect(dump).toContain(admin.email)
  expect(files).toContain(admin.email)
  expect(new Set(secrets).size).toBe(20)
  for (const secret of secrets) {
    // Also without the prefix and the check characters.
    for (const part of [secret, secret.slice(4, -6)].filter(({ length }) => length >= 8)) {
      expect(dump).not.toContain(part)
      expect(files).not.toContain(part)
    }
  }
})

test('no token, code, secret or password is in the log, nor any query', async ({ academy, admin, flow }) => {
  const secrets = await secretsOfAllWays(academy, admin, flow)
  const log = academy.logged.map(logLine).join('')
  expect(log).toContain('"path":"/oauth/authorize"')
  expect(log).toContain('"code":"invalid_grant"')
  expect(academy.logged.filter(({ path }) => path.includes('?'))).toEqual([])
  for (const secret of secrets) {
    expect(log).not.toContain(secret)
    expect(log).not.toContain(encodeURIComponent(secret))
  }
})

test('the hash of a credential stands once in its table', async ({ academy, admin, flow }) => {
  await flow.tokens(admin)
  for (const table of [
    'authorization_codes',
    'access_tokens',
    'refresh_tokens',
    'device_codes',
    'browser_sessions',
  ]) {
    const key = await academy.database.all<{ name: string }>(
      onPostgres
        ? sql`select a.attname as name from pg_index i
            join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any(i.indkey)
            where i.indisprimary and i.indrelid = cast(cast(${table} as text) as regclass)`
        : sql`select name from pragma_table_info(${table}) where pk > 0`,
    )
    expect(key).toEqual([{ name: 'hash' }])
  }
})
