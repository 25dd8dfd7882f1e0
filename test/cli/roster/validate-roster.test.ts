import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { test } from '../../helpers/cli.ts'
import { csv, published } from './read-roster.ts'

const user = {
  sourcedId: 'u1',
  enabledUser: 'true',
  role: 'student',
  username: 'ada',
  email: 'ada@example.org',
}
const valid = csv(published['1.1'].users, [
  user,
  { ...user, sourcedId: 'u2', username: 'b', email: 'b@b.example' },
])
const broken = csv(published['1.1'].users, [
  { ...user, grades: '09' },
  { ...user, sourcedId: 'u2', username: 'b', email: '=b' },
])

describe('learnctl roster validate', () => {
  test('says what a valid roster is, with its notes', async ({ cli }) => {
    writeFileSync(join(cli.cwd, 'users.csv'), valid)
    expect(await cli.run('roster validate users.csv')).toEqual({
      code: 0,
      stdout: '',
      stderr:
        'note: users.csv: there is no manifest.csv; files are read as bulk\nusers.csv is valid: OneRoster 1.1 (bulk) with 2 users\n',
    })
  })

  test('prints every problem with its place, also as CSV and JSON, and exits 2', async ({ cli }) => {
    writeFileSync(join(cli.cwd, 'users.csv'), broken)
    const { code, stdout, stderr } = await cli.run('roster validate users.csv')
    expect(code).toBe(2)
    expect(stdout).toBe(
      'problem\tusers.csv\t3\temail\t=b\tmust be an e-mail address, such as ada@example.org\n',
    )
    expect(stderr).toContain('error: 1 problem found in users.csv: OneRoster 1.1 (bulk) with 1 user\n')
    const rows = await cli.run('roster validate users.csv -o csv')
    expect(rows.stdout).toBe(
      'kind,file,line,column,value,code,message\r\nproblem,users.csv,3,email,\'=b,invalid_format,"must be an e-mail address, such as ada@example.org"\r\n',
    )
    const document = await cli.run('roster validate users.csv -o json')
    expect(document.code).toBe(2)
    expect(JSON.parse(document.stdout)).toEqual({
      ...{ source: 'users.csv', format: 'oneroster', version: '1.1', systemName: null, valid: false },
      files: [{ name: 'users.csv', table: 'users', mode: 'bulk', rows: 2, notKept: ['grades'] }],
      ...{ counts: { users: 1 }, removed: { users: 0 }, problemCount: 1, warningCount: 0, warnings: [] },
      problems: [
        {
          ...{ file: 'users.csv', line: 3, column: 'email', value: '=b', code: 'invalid_format' },
          message: 'must be an e-mail address, such as ada@example.org',
        },
      ],
      notes: ['users.csv: there is no manifest.csv; files are read as bulk'],
    })
  })

  test('lists a thousand problems and counts the others', { tags: ['slow'] }, async ({ cli }) => {
    const rows = Array.from({ length: 1200 }, (_, row) => ({ ...user, sourcedId: `u${row}`, email: 'x' }))
    writeFileSync(join(cli.cwd, 'users.csv'), csv(published['1.1'].users, rows))
    const { stdout, stderr } = await cli.run('roster validate users.csv')
    expect(stdout.split('\n')).toHaveLength(1001)
    expect(stderr).toContain('problems found in users.csv')
    expect(stderr).toContain('The first 1000 are listed')
  })

  test('refuses what is no roster, with the columns that it saw', async ({ cli }) => {
    writeFileSync(join(cli.cwd, 'people.csv'), 'id,name,mail\n1,Ada,a@b.example\n')
    const { code, stderr } = await cli.run('roster validate people.csv')
    expect(code).toBe(2)
    expect(stderr).toBe(
      'error: Cannot tell the format of people.csv\n  people.csv has the columns id, name, mail\n  hint: Name the format: --format oneroster, canvas, moodle, kolibri; columns with names of their own need --map "column in the file=column"\n',
    )
    const forced = await cli.run('roster validate people.csv --format canvas')
    expect(forced.stderr).toContain('error: people.csv has no file of Canvas SIS\n')
    const missing = await cli.run('roster validate school.zip')
    expect(missing.stderr).toContain('error: Cannot read school.zip: file not found\n')
  })

  test('refuses an unknown format and a domain that is none', async ({ cli }) => {
    writeFileSync(join(cli.cwd, 'users.csv'), valid)
    const format = await cli.run('roster validate users.csv --format powerschool')
    expect(format.stderr).toContain(
      '--format must be one of oneroster, canvas, moodle, kolibri, not "powerschool"',
    )
    const domain = await cli.run('roster validate users.csv --email-domain school')
    expect(domain.stderr).toContain('--email-domain must be a domain such as school.example, not "school"')
  })
})
