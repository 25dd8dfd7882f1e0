import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import type { Change } from '../../../src/contract/changes.ts'
import { type TestCli, test } from '../../helpers/cli.ts'

const csv = 'email,externalId\nada@b.example,1\nbob@b.example,2\n'

/** Returns the changes of the academy by command, as `command, source, state` and counts. */
async function changes(cli: TestCli): Promise<unknown[]> {
  const { stdout } = await cli.run('api GET /v1/changes')
  const { data } = JSON.parse(stdout) as { data: Change[] }
  // They began at the same time.
  return data
    .toSorted((one, other) => (one.command < other.command ? -1 : 1))
    .map(({ command, source, state, counts }) => [
      ...[command, source, state],
      Object.fromEntries(counts.map(({ action, count }) => [action, count])),
    ])
}

describe('a command that changes many records', () => {
  test('is a change of the platform, with what it is made from, its end and its counts', {
    tags: ['slow'],
  }, async ({ local }) => {
    writeFileSync(join(local.cwd, 'u.csv'), csv)
    await local.run('users import u.csv')
    expect(await changes(local)).toEqual([['users import', 'u.csv', 'completed', { 'user.created': 2 }]])
    writeFileSync(join(local.cwd, 'a.yaml'), 'learnctl: 1\ncourses:\n- {externalId: A, title: Alps}\n')
    await local.run('apply a.yaml --yes')
    await local.run('courses copy ext:A --title Andes')
    await local.run(
      'users update email:ada@b.example email:bob@b.example email:eve@b.example --first-name Eve',
    )
    expect(await changes(local)).toEqual([
      ['apply', 'a.yaml', 'completed', { 'course.created': 1 }],
      ['courses copy', 'Alps (A)', 'completed', { 'course.created': 1 }],
      ['users import', 'u.csv', 'completed', { 'user.created': 2 }],
      ['users update', '3 users', 'partial', { 'user.updated': 2 }],
    ])
  })

  test('is none where it changes nothing', async ({ local }) => {
    writeFileSync(join(local.cwd, 'u.csv'), csv)
    await local.run('users import u.csv --dry-run')
    writeFileSync(join(local.cwd, 'a.yaml'), 'learnctl: 1\nusers:\n- {email: admin@academy.local}\n')
    await local.run('apply a.yaml --yes')
    await local.run('diff a.yaml')
    expect(await changes(local)).toEqual([])
  })
})

describe('a command that changes one record', () => {
  test('is a change as well, which `undo last` takes back', async ({ local }) => {
    await local.run('users update email:admin@academy.local --first-name Eve')
    expect(await changes(local)).toEqual([['users update', null, 'completed', { 'user.updated': 1 }]])
    const { stdout } = await local.run('undo last --dry-run')
    expect(stdout).toContain('      profile.firstName: "Eve" → none\n')
  })

  test('is none where it fails, changes nothing, or what it changes is not undone', async ({ local }) => {
    await local.run('users update email:none@b.example --first-name Eve')
    await local.run('keys create --name ci')
    await local.run('settings update --instructor-access all')
    expect(await changes(local)).toEqual([])
  })
})
