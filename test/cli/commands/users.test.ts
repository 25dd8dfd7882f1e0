import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { beforeEach, describe, expect } from 'vitest'
import { verifyPassword } from '../../../src/server/access/password-hash.ts'
import { type RunOptions, type TestCli, test } from '../../helpers/cli.ts'
import { expectClearError, ran, resultOf, rowsOf } from '../../helpers/result.ts'

const password = 'correct horse battery'

/** True if this is the password of the user with this e-mail address. */
async function opens({ cwd }: TestCli, email: string, given: string): Promise<boolean> {
  const database = new DatabaseSync(join(cwd, 'academy.db'), { readOnly: true })
  const row = database.prepare('select password_hash from users where email = ?').get(email)
  database.close()
  const stored = row?.['password_hash']
  return typeof stored === 'string' && verifyPassword(given, stored)
}

const ada = 'users create --email ada@school.example --external-id S-1 --first-name Ada'

describe('create', () => {
  test('takes flags, nested ones by their last name, and what few set from a file', async ({ local }) => {
    const learningPreferences = {
      languages: ['en', 'fr'],
      pace: 'self_paced',
      accessibility: { highContrast: true, screenReader: false, reducedMotion: true },
    }
    const profile = { displayName: 'Countess', bio: 'Engines', locale: 'en-GB', learningPreferences }
    writeFileSync(join(local.cwd, 'ada.json'), JSON.stringify({ profile }))
    const user = await resultOf(local, [
      ...['users', 'create', '--email', 'ada@school.example', '--role', 'instructor', '--username', 'ada'],
      ...['--external-id', 'S-1', '--first-name', 'Ada', '--last-name', 'Lovelace'],
      ...['--timezone', 'Europe/London', '--managed-by', 'sis'],
      ...['--body', '@ada.json'],
    ])
    expect(user).toMatchObject({
      externalId: 'S-1',
      email: 'ada@school.example',
      username: 'ada',
      role: 'instructor',
      status: 'active',
      managedBy: 'sis',
      profile: {
        firstName: 'Ada',
        lastName: 'Lovelace',
        displayName: 'Countess',
        timezone: 'Europe/London',
        bio: 'Engines',
        locale: 'en-GB',
        learningPreferences,
      },
    })
  })

  test('takes a password from standard input, without its line end', async ({ local }) => {
    const run = (stdin: string, flags: string) =>
      local.run(`users create --email ada@school.example --password-stdin ${flags}`, { stdin })
    const rehearsed = await run(`${password}\n`, '--dry-run -o json')
    expect(JSON.parse(rehearsed.stdout)).toMatchObject({
      body: { email: 'ada@school.example', password: '***' },
    })
    const created = await run(`${password}\r\n`, '--debug -o json')
    for (const { code, stdout, stderr } of [rehearsed, created]) {
      expect(code).toBe(0)
      expect(stdout + stderr).not.toContain(password)
    }
    expect(await opens(local, 'ada@school.example', password)).toBe(true)
    expect(await opens(local, 'ada@school.example', `${password}\n`)).toBe(false)
  })

  test('asks for the password twice on a terminal, and shows neither', async ({ local }) => {
    const { code, stdout, stderr } = await local.run('users create --password-stdin', {
      tty: 80,
      typed: ['ada@school.example\r', `${password}\r`, `${password}\r`],
    })
    expect({ code, stdout: stdout + stderr }).toEqual({
      code: 0,
      stdout: expect.not.stringContaining(password),
    })
    expect(stderr).toMatch(/Password \(12 to 256 characters\):[\s\S]+Repeat the password:/)
    expect(await opens(local, 'ada@school.example', password)).toBe(true)
  })

  test('checks the length of a password as soon as it is typed, and lets it be mended', async ({ local }) => {
    let mended = false
    const { code, stderr } = await local.run('users create --password-stdin', {
      tty: 80,
      typed: ['ada@school.example\r', 'correct\r', `${password}\r`],
      onStderr: (printed, type) => {
        if (mended || !printed.includes('The password must have 12 to 256 characters')) return
        mended = true
        expect(printed).not.toContain('Repeat the password:')
        type(`${password.slice('correct'.length)}\r`)
      },
    })
    expect({ code, mended }).toEqual({ code: 0, mended: true })
    expect(stderr).toContain('Repeat the password:')
    expect(await opens(local, 'ada@school.example', password)).toBe(true)
  })

  test('tells all that is wrong at once, each under its name', async ({ local }) => {
    const { code, stderr } = await local.run('users create --email ada --timezone Mars/Olympus --body -', {
      stdin: 'profile: { learningPreferences: { deliverySpeed: 9 } }',
    })
    expect(code).toBe(2)
    expect(stderr).toMatch(/^error: 3 problems found:\n {2}--email must be an e-mail address/)
    expect(stderr).toContain('\n  --timezone must ')
    expect(stderr).toContain('\n  profile.learningPreferences.deliverySpeed must ')
  })
})

describe('a user', () => {
  beforeEach<{ local: TestCli }>(async ({ local }) => {
    await local.run(ada)
  })

  test('is deleted after a yes, kept as deleted, and revived', async ({ local }) => {
    const asked = await local.run('users delete ext:S-1', { tty: 200, typed: ['y\r'] })
    expect(asked.code).toBe(0)
    expect(asked.stderr).toContain(
      `Delete user Ada (ada@school.example) in ${local.cwd}/academy.db? The user can be restored later.`,
    )
    expect(asked.stderr).toContain(
      'Deleted user Ada (ada@school.example); restore with: learnctl users restore ext:S-1\n',
    )
    const emails = async (flags: string) =>
      (await rowsOf(local, `users list --columns email ${flags}`)).flat()
    expect(await emails('')).toEqual(['admin@academy.local'])
    expect(await emails('--include-deleted --status deleted')).toEqual(['ada@school.example'])
    expect(await local.run('users get email:ada@school.example')).toMatchObject({ code: 3 })
    await local.run('users update ext:S-1 --status active')
    expect(await emails('')).toContain('ada@school.example')
  })

  test('is erased for good with --erase', async ({ local }) => {
    const { id } = await resultOf(local, 'users get ext:S-1')
    expect((await ran(local, 'users delete ext:S-1 --erase', 2)).stderr).toContain(
      'Refusing to erase user ext:S-1 without confirmation',
    )
    const typed = ['Ada\r', '\u0015ada@school.example\r']
    const asked = await local.run('users delete ext:S-1 --erase', { tty: 200, typed: typed.slice(1) })
    expect(asked.stderr).toContain('Erase the personal data of user Ada (ada@school.example) in ')
    expect(asked.stderr).toContain('This cannot be undone.')
    expect(asked).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('Erased user ext:S-1; the personal data cannot be restored\n'),
    })
    const { stdout } = await local.run(`users get ${id} -o json`)
    expect(stdout).not.toContain('ada@school.example')
    expect(stdout).not.toContain('Ada')
  })
})

describe('set-password', () => {
  const set = 'users set-password email:admin@academy.local'

  test('gives a user a password, under a local profile without the present one', async ({ local }) => {
    expect(await opens(local, 'admin@academy.local', password)).toBe(false)
    const { code, stdout, stderr } = await local.run(`${set} -q`, { stdin: `${password}\n` })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^usr_\w+\n$/)
    expect(await opens(local, 'admin@academy.local', password)).toBe(true)
    expect(await local.run(set, { stdin: 'staple of the second' })).toMatchObject({
      stderr: 'Set the password of user admin@academy.local; their sessions and grants have ended\n',
    })
    expect(await opens(local, 'admin@academy.local', password)).toBe(false)
  })

  test.for<[what: string, line: string, given: RunOptions, message: string]>([
    ['nothing', set, { stdin: '' }, 'No password on standard input'],
    ['two lines', set, { stdin: `${password}\nmore` }, 'it has more than one line'],
    ['too few characters', set, { stdin: 'short' }, 'The password must have 12 to 256 characters'],
    ['one character', set, { stdin: 'a'.repeat(12) }, 'The password must not be one character repeated'],
    ['a common one', set, { stdin: 'qwertyuiop12' }, 'password must not be one of the most common passwords'],
    ['a zero byte', set, { stdin: 'correct\0horse battery' }, 'password'],
    [
      'a body from standard input besides',
      'users create --body - --password-stdin',
      { stdin: '{}' },
      '--body and --password-stdin cannot both read standard input',
    ],
    ['a password as an argument', `${set} ${password.replaceAll(' ', '-')}`, {}, 'Too many arguments'],
  ])('is refused: %s', async ([, line, given, message], { local }) => {
    const refused = await local.run(line, given)
    expectClearError(refused, 2, message)
    if (given.stdin && given.stdin.length > 4) expect(refused.stderr).not.toContain(given.stdin)
    expect(await resultOf(local, 'users me')).toMatchObject({ version: 1 })
  })

  test('is refused on a terminal if the two differ, or without prompts', async ({ local }) => {
    const typed = [`${password}\r`, 'another password\r']
    const differing = await local.run(`${set} --color never`, { tty: 80, typed })
    expect(differing).toMatchObject({ code: 2, stdout: '' })
    expect(differing.stderr).toMatch(/error: The passwords do not match\n$/)
    const { code, stderr } = await local.run(`${set} --no-input`, { tty: 80 })
    expect(code).toBe(2)
    expect(stderr).toContain('Prompts are disabled (--no-input)')
    expect(await local.run(set, { tty: 80, typed: ['\u0003'] })).toMatchObject({ code: 130, stdout: '' })
  })
})
