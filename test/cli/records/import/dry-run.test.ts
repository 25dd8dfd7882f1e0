import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { test } from '../../../helpers/cli.ts'

const before =
  'externalId,email,firstName,lastName\n1,a@b.example,Ada,Byron\n2,b@b.example,Grace,Hopper\n3,c@b.example,Jean,\n'
const after =
  'externalId,email,firstName,lastName\n2,B@b.example,Grace,Hopper\n1,a@b.example,Augusta,King\n4,d@b.example,Edith,\n'

describe('a dry run of an import', () => {
  test('says for each row what would become of it, and writes nothing', async ({ local }) => {
    await local.run('users import -', { stdin: before })
    const shown = await local.run('users list --all -o json')
    const ran = await local.run('users import - --dry-run -o json', { stdin: after })
    expect(ran, ran.stderr).toMatchObject({ code: 0 })
    expect(JSON.parse(ran.stdout)).toEqual([
      { line: 2, key: '2', action: 'update', changes: ['email'], message: null },
      { line: 3, key: '1', action: 'update', changes: ['firstName', 'lastName'], message: null },
      { line: 4, key: '4', action: 'create', changes: [], message: null },
    ])
    expect(ran.stderr).toBe('Dry run of standard input: 1 create, 2 update; nothing was sent\n')
    expect((await local.run('users list --all -o json')).stdout).toBe(shown.stdout)
  })

  test.for([
    ['users', 'externalId,firstName\nN,Ada', 'email: is required'],
    ['courses', 'externalId,status\nN,draft', 'title: is required'],
    ['lessons', 'externalId,courseId\nN,ext:C', 'title: is required'],
    ['lessons', 'externalId,courseId,title\nN,ext:X,Tides', 'courseId: course ext:X not found'],
    ['terms', 'externalId,startDate\nN,2026-08-01', 'name: is required'],
    ['groups', 'externalId,course\nN,ext:C', 'name: is required'],
    ['groups', 'externalId,name,course\nN,5b,ext:X', 'course: course ext:X not found'],
  ] as const)(
    'knows what a new record of %s lacks, as the import does: %s',
    async ([noun, csv, message], { local }) => {
      await local.run('courses create --title Sea --external-id C')
      const dry = await local.run(`${noun} import - --dry-run -o json`, { stdin: `${csv}\n` })
      expect(dry.code).toBe(8)
      expect(JSON.parse(dry.stdout)).toMatchObject([{ line: 2, action: 'fail', message }])
      const real = await local.run(`${noun} import - -o json`, { stdin: `${csv}\n` })
      expect({ code: real.code, failed: JSON.parse(real.stdout).failed }).toEqual({ code: 8, failed: 1 })
    },
  )

  test('knows what --on-exists makes of a record, and exits with 8 where rows would be rejected', async ({
    local,
  }) => {
    await local.run('users import -', { stdin: before })
    const actions = async (flags: string) => {
      const ran = await local.run(`users import - --dry-run -o csv --columns action ${flags}`, {
        stdin: after,
      })
      return [ran.code, ...ran.stdout.split('\r\n').slice(1, -1)]
    }
    expect(await actions('--on-exists skip')).toEqual([0, 'skip', 'skip', 'create'])
    expect(await actions('--on-exists fail')).toEqual([8, 'fail', 'fail', 'create'])
    const ran = await local.run('users import - --dry-run', { stdin: before })
    expect(ran.stdout.match(/unchanged/g)).toHaveLength(3)
  })

  test('refuses progress and grades that are older than those that are there, as the import does', {
    tags: ['slow'],
  }, async ({ local }) => {
    await local.run('courses import -', { stdin: 'externalId,title,status\nC,Sea,published\n' })
    await local.run('users import -', { stdin: before })
    await local.run('enrollments import -', { stdin: 'courseId,userId\next:C,ext:1\n' })
    for (const [noun, columns] of [
      ['progress', 'completionPercentage,lastAccessed'],
      ['grades', 'scoreGiven,gradedAt'],
    ]) {
      const csv = (value: string) => `courseId,learnerId,${columns}\next:C,ext:1,${value}\n`
      await local.run(`${noun} import -`, { stdin: csv('40,2026-02-14') })
      const dry = await local.run(`${noun} import - --dry-run -o json`, { stdin: csv('30,2026-02-13') })
      expect(dry.code).toBe(8)
      expect(JSON.parse(dry.stdout)).toMatchObject([
        { action: 'fail', message: expect.stringContaining('that is there is newer') },
      ])
      expect((await local.run(`${noun} import -`, { stdin: csv('30,2026-02-13') })).code).toBe(8)
    }
  })

  test.for([
    ['progress', 'completionPercentage,lastAccessed'],
    ['grades', 'scoreGiven,gradedAt'],
  ] as const)(
    'and an import of a history say again that each row is there: %s',
    async ([noun, columns], { local }) => {
      await local.run('courses import -', { stdin: 'externalId,title,status\nC,Sea,published\n' })
      await local.run('users import -', { stdin: before })
      const row = (value: string) => `ext:C,ext:1,${value}\n`
      const history = `courseId,learnerId,${columns}\n${row('40,2026-02-14')}${row('30,2026-02-15')}${row('90,2026-02-16')}`
      await local.run('enrollments import -', { stdin: 'courseId,userId\next:C,ext:1\n' })
      expect((await local.run(`${noun} import -`, { stdin: history })).code).toBe(0)
      for (const flags of ['--dry-run', '', '--batch-size 1']) {
        const { code, stderr } = await local.run(`${noun} import - ${flags}`, { stdin: history })
        expect([code, stderr]).toEqual([0, expect.stringContaining(': 3 unchanged')])
      }
      const other = history.replace('30,2026-02-15', '31,2026-02-15')
      for (const flags of ['--dry-run', '']) {
        const { code, stderr } = await local.run(`${noun} import - ${flags}`, { stdin: other })
        expect([code, stderr]).toEqual([8, expect.stringMatching(/: 2 unchanged, 1 fail/)])
      }
    },
  )

  test('finds users by their addresses as the import does', async ({ local }) => {
    await local.run('users import -', { stdin: 'externalId,email\n1,a@b.example\n,b@b.example\n' })
    const stdin = 'externalId,email\n7,A@b.example\n8,b@b.example\n'
    const dry = await local.run('users import - --dry-run -o json', { stdin })
    expect(dry.code).toBe(8)
    expect(JSON.parse(dry.stdout)).toMatchObject([
      { action: 'fail', message: 'email: user 1 has this address' },
      { action: 'update', changes: ['externalId'] },
    ])
    for (const flags of ['--batch-size 1', '']) {
      const { code, stdout } = await local.run(`users import - -o json --errors e.csv ${flags}`, { stdin })
      expect(code).toBe(8)
      const [first, again] = [
        { updated: 1, failed: 1 },
        { unchanged: 1, failed: 1 },
      ]
      expect(JSON.parse(stdout)).toMatchObject(flags === '' ? again : first)
    }
  })

  test('never shows a password', { tags: ['slow'] }, async ({ local }) => {
    const stdin = 'email,password,role\na@b.example,correct horse battery,learner\n'
    await local.run('users import -', { stdin })
    for (const flags of ['--dry-run', '--dry-run --debug', '--debug', '--dry-run -o json']) {
      const ran = await local.run(`users import - ${flags}`, { stdin })
      expect(ran.stdout + ran.stderr).not.toContain('horse')
      if (flags === '--dry-run') expect(ran.stdout).toContain('password')
    }
    const short = 'email,password,role\na@b.example,horse,lerner\n'
    const refused = await local.run('users import -', { stdin: short })
    expect(refused.stderr).toContain('password: ')
    expect(refused.stderr).not.toContain('horse')
  })
})

test('a dry run over the network reads lists in place of asking for each row, where that is less', {
  tags: ['slow'],
}, async ({ remote, academy }) => {
  const { key } = await academy.person('admin')
  const env = { LEARNCTL_URL: 'https://school.example', LEARNCTL_API_KEY: key }
  const rows = Array.from({ length: 300 }, (_, row) => `${row},u${row}@b.example\n`)
  writeFileSync(join(remote.cwd, 'u.csv'), `externalId,email\n${rows.join('')}`)
  await remote.run('users import u.csv', { env })
  const ran = await remote.run('users import u.csv --dry-run --debug', { env })
  expect(ran.stdout.match(/unchanged/g)).toHaveLength(300)
  expect(ran.stderr.match(/^debug: GET .*\/v1\/users\?/gm)).toHaveLength(4)
  expect(ran.stderr).not.toMatch(/^debug: (POST|PUT|GET .*\/v1\/users\/)/m)
  const few = await remote.run('users import - --dry-run --debug', { env, stdin: 'email\nU7@b.example\n' })
  expect(few.stdout).toContain('email')
  expect(few.stderr).toContain('/v1/users/email%3AU7%40b.example')
})

test('a dry run over the network asks for the enrolments of many users at once, never one by one', {
  tags: ['slow'],
}, async ({ remote, academy }) => {
  const { key, post } = await academy.person('admin')
  const env = { LEARNCTL_URL: 'https://school.example', LEARNCTL_API_KEY: key }
  for (const externalId of ['C', 'D']) await post('/v1/courses', { externalId, title: externalId })
  const people = Array.from({ length: 60 }, (_, row) => ({
    externalId: row % 2 ? `s${row}` : `S${row + 1}`,
    email: `u${row}@b.example`,
  }))
  await post('/v1/users/batch', { items: people })
  const rows = people.flatMap(({ externalId, email }) => [
    `ext:C,ext:${externalId},learner`,
    `ext:D,email:${email.toUpperCase()},instructor`,
  ])
  writeFileSync(join(remote.cwd, 'half.csv'), `courseId,userId,role\n${rows.slice(0, 60).join('\n')}\n`)
  writeFileSync(join(remote.cwd, 'all.csv'), `courseId,userId,role\n${rows.join('\n')}\n`)
  const done = await remote.run('enrollments import half.csv', { env })
  expect(done, done.stderr).toMatchObject({ code: 0 })
  const ran = await remote.run('enrollments import all.csv --dry-run --debug -o csv --columns action', {
    env,
  })
  expect(ran.stdout.split('\r\n').slice(1, -1)).toEqual(
    rows.map((_, row) => (row < 60 ? 'unchanged' : 'create')),
  )
  expect(ran.stderr.match(/^debug: GET .*\/v1\/enrollments\?/gm)?.length).toBeLessThanOrEqual(4)
  const stdin = 'courseId,userId\next:C,ext:S1\next:C,ext:nobody\next:X,ext:S1\n'
  const few = await remote.run('enrollments import - --dry-run -o csv --columns action', { env, stdin })
  const each = await remote.run('enrollments import - --dry-run -o csv --columns action', {
    env,
    stdin: stdin.replace('ext:C,ext:nobody\n', ''),
  })
  expect(few.stdout.split('\r\n').slice(1, -1)).toEqual(['unchanged', 'fail', 'fail'])
  expect(each.stdout.split('\r\n').slice(1, -1)).toEqual(['unchanged', 'fail'])
})
