import { beforeEach, describe, expect } from 'vitest'
import { type TestCli, test } from '../../helpers/cli.ts'
import { resultOf, rowsOf } from '../../helpers/result.ts'

const ada = 'users create --email ada@school.example --external-id S-1 --first-name Ada'

describe('create', () => {
  test('takes a flag for every attribute, nested ones by their last name', async ({ local }) => {
    const user = await resultOf(local, [
      ...['users', 'create', '--email', 'ada@school.example', '--role', 'instructor', '--username', 'ada'],
      ...[
        '--external-id',
        'S-1',
        '--first-name',
        'Ada',
        '--last-name',
        'Lovelace',
        '--display-name',
        'Countess',
      ],
      ...['--timezone', 'Europe/London', '--locale', 'en-GB', '--bio', 'Engines', '--managed-by', 'sis'],
      ...['--avatar-url', 'https://school.example/ada.png', '--languages', 'en,fr', '--pace', 'self_paced'],
      ...[
        '--preferred-difficulty',
        'expert',
        '--content-formats',
        'text,audio',
        '--weekly-goal-minutes',
        '120',
      ],
      ...[
        '--audio',
        'off',
        '--captions',
        '--delivery-speed',
        '1.5',
        '--high-contrast',
        '--no-email-notifications',
      ],
      ...['--push-notifications', '--no-screen-reader', '--reduced-motion'],
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
        locale: 'en-GB',
        avatarUrl: 'https://school.example/ada.png',
        bio: 'Engines',
        learningPreferences: {
          languages: ['en', 'fr'],
          preferredDifficulty: 'expert',
          pace: 'self_paced',
          contentFormats: ['text', 'audio'],
          weeklyGoalMinutes: 120,
          audio: 'off',
          captions: true,
          deliverySpeed: 1.5,
          accessibility: { highContrast: true, screenReader: false, reducedMotion: true },
          notifications: { email: false, push: true },
        },
      },
    })
  })

  test.for([
    ['teacher', 'instructor'],
    ['student', 'learner'],
    ['observer', 'analyst'],
  ])("takes other platforms' word %s for %s", async ([alias = '', role = ''], { local }) => {
    const user = await resultOf(local, `users create --email a@school.example --role ${alias}`)
    expect(user).toMatchObject({ role })
  })

  test('asks for the e-mail address on a terminal', async ({ local }) => {
    const { code, stdout } = await local.run('users create -q', { tty: 80, typed: ['ada@school.example\r'] })
    expect(code).toBe(0)
    expect(stdout).toMatch(/^usr_\w+\n$/)
    expect(await resultOf(local, 'users get email:ada@school.example')).toMatchObject({ role: 'learner' })
  })

  test('has no flag for a password, but takes one from standard input and never shows it', async ({
    local,
  }) => {
    const secret = 'correct horse battery'
    const stdin = JSON.stringify({ email: 'ada@school.example', password: secret })
    expect(await local.run('users create --password x')).toMatchObject({ code: 2 })
    const runs = [
      await local.run('users create --body - --dry-run', { stdin }),
      await local.run('users create --body - --debug -o json', { stdin }),
      await local.run('users get email:ada@school.example -o json'),
    ]
    for (const { code, stdout, stderr } of runs) {
      expect(code).toBe(0)
      expect(stdout + stderr).not.toContain(secret)
    }
    expect(runs[0]?.stdout).toContain('"password": "***"')
  })

  test('of an address that is taken in other case says whose it is', async ({ local }) => {
    const { id } = await resultOf(local, ada)
    const { code, stdout, stderr } = await local.run('users create --email ADA@School.Example')
    expect({ code, stdout }).toEqual({ code: 6, stdout: '' })
    expect(stderr).toMatch(new RegExp(`^error: .*ADA@School.Example is taken by ${id} \\(active\\)`))
    expect(await rowsOf(local, 'users list --role learner')).toHaveLength(1)
  })

  test('tells all that is wrong at once, each under its name', async ({ local }) => {
    const { code, stderr } = await local.run([
      ...['users', 'create', '--email', 'ada', '--timezone', 'Mars/Olympus', '--delivery-speed', '9'],
    ])
    expect(code).toBe(2)
    expect(stderr).toMatch(/^error: 3 faults, the first: email .+\n/)
    expect(stderr).toContain('\n  profile.timezone: ')
    expect(stderr).toContain('\n  profile.learningPreferences.deliverySpeed: ')
  })
})

describe('a user', () => {
  beforeEach<{ local: TestCli }>(async ({ local }) => {
    await local.run(ada)
  })

  test.for([['ext:S-1'], ['email:ada@school.example'], ['email:ADA@SCHOOL.EXAMPLE']])(
    'is found as %s',
    async ([reference = ''], { local }) => {
      expect(await rowsOf(local, `users get ${reference} --columns email,profile.firstName`)).toEqual([
        ['ada@school.example', 'Ada'],
      ])
    },
  )

  test('is changed in what is given alone', async ({ local }) => {
    expect(
      await resultOf(local, 'users update ext:S-1 --last-name Lovelace --unset external-id'),
    ).toMatchObject({ externalId: null, profile: { firstName: 'Ada', lastName: 'Lovelace' }, version: 2 })
  })

  test('that somebody else has changed is kept from --if-version', async ({ local }) => {
    await local.run('users update ext:S-1 --role analyst --if-version 1')
    const late = await local.run('users update ext:S-1 --role instructor --if-version 1')
    expect(late).toMatchObject({ code: 6, stdout: '' })
    expect(await resultOf(local, 'users get ext:S-1')).toMatchObject({ role: 'analyst', version: 2 })
  })

  test('is deleted after a yes, kept as deleted, and revived', async ({ local }) => {
    const asked = await local.run('users delete ext:S-1', { tty: 200, typed: ['y\r'] })
    expect(asked.code).toBe(0)
    expect(asked.stderr).toContain(`Delete user ext:S-1 at ${local.cwd}/academy.db?`)
    expect(asked.stderr).toContain('note: deleted user ext:S-1\n')
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
    expect(await local.run('users delete ext:S-1 --erase')).toMatchObject({ code: 2 })
    expect(await local.run('users delete ext:S-1 --erase --yes')).toMatchObject({ code: 0 })
    const { stdout } = await local.run(`users get ${id} -o json`)
    expect(stdout).not.toContain('ada@school.example')
    expect(stdout).not.toContain('Ada')
  })
})

test('the last admin stays: neither deleted, suspended nor demoted', async ({ local }) => {
  for (const line of [
    'users delete email:admin@academy.local --yes',
    'users update email:admin@academy.local --status suspended',
    'users update email:admin@academy.local --role learner',
  ]) {
    expect(await local.run(line)).toMatchObject({ code: 6, stdout: '' })
  }
  expect(await resultOf(local, 'users me')).toMatchObject({ role: 'admin', status: 'active', version: 1 })
})

test('users are filtered and ordered by flags', async ({ local }) => {
  await local.run(ada)
  await local.run('users create --email bob@school.example --role instructor --username bobby')
  const emails = async (flags: string) =>
    (await rowsOf(local, `users list --columns email --sort email ${flags}`)).flat()
  expect(await emails('')).toEqual(['ada@school.example', 'admin@academy.local', 'bob@school.example'])
  expect(await emails('--role instructor,admin')).toEqual(['admin@academy.local', 'bob@school.example'])
  expect(await emails('--q BOBBY')).toEqual(['bob@school.example'])
  expect(await emails('--email Ada@school.example')).toEqual(['ada@school.example'])
  expect(await emails('--external-id S-1')).toEqual(['ada@school.example'])
  expect(await emails('--status suspended')).toEqual([])
})

test('me is the owner of the academy in this process, with all rights', async ({ local }) => {
  expect(await resultOf(local, 'users me')).toMatchObject({
    email: 'admin@academy.local',
    scopes: ['read', 'write', 'admin'],
    authMethod: 'local',
  })
})
