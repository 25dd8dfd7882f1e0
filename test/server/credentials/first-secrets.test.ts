import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import sql, { raw } from 'sql-template-tag'
import { expect } from 'vitest'
import { openAcademy } from '../../../src/server/academy/local-academy.ts'
import { openAcademyFile } from '../../../src/server/academy/open-academy.ts'
import { verifyPassword } from '../../../src/server/access/password-hash.ts'
import { digest } from '../../../src/server/access/secret.ts'
import {
  makeFirstPassword,
  makeFirstSecrets,
  oweFirstKey,
} from '../../../src/server/credentials/first-secrets.ts'
import type { Store } from '../../../src/server/database/database.ts'
import { onPostgres, passwordCost, stoppedClock } from '../../helpers/academy.ts'
import { test as served, startServer } from '../socket/served.ts'

const { now } = stoppedClock()
const test = served
  .extend('academy', async ({ directory }, { onCleanup }) => {
    const opened = await openAcademyFile(join(directory, 'academy.db'), now)
    onCleanup(() => opened.database.close())
    return { ...opened, now, passwordCost }
  })
  .extend('database', ({ academy }) => academy.database)

function entriesIn(database: Store) {
  return database.all(
    sql`select action, user_id, credential, subject_id, details from audit_entries order by place`,
  )
}

const passwordForm = /^[a-z0-9]{5}(-[a-z0-9]{5}){3}$/

test('the first admin gets a password that works, once', async ({ academy, database }) => {
  const first = await makeFirstPassword(academy)
  expect(first).toEqual({ email: 'admin@academy.local', password: expect.stringMatching(passwordForm) })
  // No letter or digit that is easily confused.
  expect(first?.password).not.toMatch(/[01ilo25]/)
  const { password_hash: stored, version } =
    (await database.one<{ password_hash: string; version: number }>(sql`select * from users`)) ?? {}
  expect(version).toBe(1)
  expect(await verifyPassword(first?.password ?? '', stored ?? '')).toBe(true)
  expect(await makeFirstPassword(academy)).toBeUndefined()
  expect(await database.one(sql`select password_hash from users`)).toEqual({ password_hash: stored })
})

test('what the first admin is given is in the audit log', async ({ academy, database }) => {
  const { firstKey, firstPassword } = await makeFirstSecrets(academy, { password: true, key: true })
  const entries = await entriesIn(database)
  const [admin] = await database.all<{ id: string }>(sql`select id from users`)
  const byHand = { user_id: admin?.id, credential: 'local' }
  const key = expect.stringMatching(/^key_/)
  expect(entries).toEqual(
    [
      { action: 'user.password_changed', subject_id: admin?.id },
      { action: 'key.created', subject_id: key },
    ].map((entry) => expect.objectContaining({ ...entry, ...byHand })),
  )
  expect(JSON.stringify(entries)).not.toContain(firstKey ?? '')
  expect(JSON.stringify(entries)).not.toContain(firstPassword?.password ?? '')
})

test('exactly one of several servers gets the password', async ({ academy, database, directory }) => {
  const other = (await openAcademyFile(join(directory, 'academy.db'), stoppedClock().now)).database
  try {
    const made = await Promise.all(
      [database, other, database].map((one) => makeFirstPassword({ ...academy, database: one })),
    )
    const [first, ...more] = made.filter((one) => one !== undefined)
    expect(more).toEqual([])
    const stored = await database.one<{ password_hash: string }>(sql`select password_hash from users`)
    expect(await verifyPassword(first?.password ?? '', stored?.password_hash ?? '')).toBe(true)
  } finally {
    await other.close()
  }
})

test('of several that start while a key is owed, one gets it', async ({ academy, database, directory }) => {
  const { database: other } = await openAcademyFile(join(directory, 'academy.db'), now)
  try {
    const keysOf = (stores: readonly Store[], key: boolean) =>
      Promise.all(
        stores.map(async (store) => {
          return (await makeFirstSecrets({ ...academy, database: store }, { password: false, key })).firstKey
        }),
      )
    await oweFirstKey(database)
    const made = (await keysOf([database, other, database], false)).filter((key) => key !== undefined)
    expect(made).toEqual([expect.stringMatching(/^lpk_/)])
    expect(await database.all(sql`select hash from api_keys`)).toEqual([{ hash: digest(made[0] ?? '') }])
    expect((await keysOf([database, other], true)).every((key) => key?.startsWith('lpk_'))).toBe(true)
  } finally {
    await other.close()
  }
})

test.for([["role = 'learner'"], ["status = 'suspended'"], ["status = 'deleted'"]])(
  'a first user whose %s gets none',
  async ([change = ''], { academy, database }) => {
    await database.run(raw(`update users set ${change}`))
    expect(await makeFirstPassword(academy)).toBeUndefined()
  },
)

// Only SQLite has a file to search.
test.skipIf(onPostgres)(
  'a server makes one where it is told to, and says it in no log',
  async ({ directory }) => {
    const path = join(directory, 'served.db')
    const silent = await startServer(path)
    expect(silent.firstPassword).toBeUndefined()
    await silent.stop()
    const first = await startServer(path, { firstPassword: true })
    expect(first.firstPassword?.password).toMatch(passwordForm)
    await first.fetch('/health')
    await first.stop()
    expect(first.log.join('')).not.toContain(first.firstPassword?.password)
    expect(readFileSync(path).includes(first.firstPassword?.password ?? '')).toBe(false)
    const second = await startServer(path, { firstPassword: true })
    expect(second.firstPassword).toBeUndefined()
    await second.stop()
  },
)

test('an academy in this process makes one as well', { tags: ['slow'] }, async ({ directory }) => {
  const academy = await openAcademy({ path: join(directory, 'local.db') })
  expect((await academy.makeFirstPassword())?.password).toMatch(passwordForm)
  expect(await academy.makeFirstPassword()).toBeUndefined()
  await academy.close()
})
