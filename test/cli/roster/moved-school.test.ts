import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { type TestCli, test } from '../../helpers/cli.ts'
import { putNewAcademy } from '../../helpers/new-academy.ts'

async function ran(cli: TestCli, line: string, code = 0, stdin = '') {
  const result = await cli.run(line, { stdin })
  expect(result.code, `${line}\n${result.stdout}${result.stderr}`).toBe(code)
  return result
}

/** Makes an academy, exports it and applies the package to an empty one; returns the notes of the export. */
async function move(cli: TestCli, academy: string, form: string): Promise<string> {
  for (const name of ['old.db', 'new.db']) await putNewAcademy(join(cli.cwd, name))
  await ran(cli, 'apply - --yes --database old.db', 0, `learnctl: 1\n${academy}`)
  const { stderr } = await ran(cli, `roster export --format ${form} moved --database old.db`)
  await ran(cli, 'roster apply moved --yes --database new.db')
  return stderr
}

/** Returns what differs between the old and the new academy, without places. */
async function differences(cli: TestCli): Promise<string[]> {
  const { stdout } = await ran(cli, 'roster diff old.db new.db -o csv', 9)
  const rows = stdout.split('\r\n').slice(1, -1)
  return rows.map((row) => row.slice(0, row.lastIndexOf(','))).sort()
}

describe('a school that is moved by OneRoster', () => {
  test('keeps display names of one word', { tags: ['slow'] }, async ({ local }) => {
    const names = ['Nick99', 'Ada', 'Lovelace', 'Countess Ada', 'Ada King', 'the Countess Lovelace']
    const users = names.map(
      (name, n) =>
        `  - {externalId: u${n}, email: p${n}@b.example, profile: {firstName: Ada, lastName: Lovelace, displayName: ${name}}}`,
    )
    const told = await move(local, `users:\n${users.join('\n')}\n`, 'oneroster')
    expect(told).not.toContain('display name')
    await ran(local, 'roster diff old.db new.db')
  })

  test('counts users with a display name only, and display names with odd spaces', {
    tags: ['slow'],
  }, async ({ local }) => {
    const told = await move(
      local,
      `users:
  - {externalId: u1, email: a@b.example, profile: {displayName: Ada}}
  - {externalId: u2, email: b@b.example, profile: {firstName: B, lastName: B, displayName: 'Bob  Bo'}}
`,
      'oneroster',
    )
    expect(told).toContain('note: 1 user with a display name only: ')
    expect(told).toContain('note: The display names of 1 user come back with other spaces or signs')
    expect(await differences(local)).toEqual([
      'users,update,ext:u1,profile.firstName,,Ada',
      'users,update,ext:u2,profile.displayName,Bob  Bo,Bob Bo',
    ])
  })
})
