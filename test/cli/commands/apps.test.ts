import { describe, expect } from 'vitest'
import { test } from '../../helpers/cli.ts'
import { expectClearError, resultOf, rowsOf } from '../../helpers/result.ts'
import { createGrant } from '../../helpers/signed-in.ts'

const reports = 'apps create --name Reports --redirect-uri https://reports.example/cb'
const secret = /^lps_[0-9A-Za-z]{36}$/

describe('create', () => {
  test('prints the secret, this once', { tags: ['slow'] }, async ({ local }) => {
    const created = await resultOf(local, `${reports} --redirect-uri http://localhost:3000/cb`)
    expect(created).toEqual({
      clientId: expect.stringMatching(/^app_/),
      name: 'Reports',
      redirectUris: ['https://reports.example/cb', 'http://localhost:3000/cb'],
      public: false,
      machineScopes: [],
      createdAt: '2026-03-01T12:00:00.000Z',
      clientSecret: expect.stringMatching(secret),
    })
    const { stdout } = await local.run('apps list -o json')
    expect(stdout).toContain(created.clientId)
    expect(stdout).not.toContain(created.clientSecret)
  })

  test('in a pipe has the secret in the last column', async ({ local }) => {
    const [row] = await rowsOf(local, reports)
    expect(row?.slice(0, 3)).toEqual(['Reports', 'https://reports.example/cb', 'false'])
    expect(row?.at(-1)).toMatch(secret)
  })

  test('of a public application has none, and -q prints its client id', { tags: ['slow'] }, async ({
    local,
  }) => {
    const publicly = 'apps create --name Desk --redirect-uri com.example.desk:/callback --public'
    expect(await resultOf(local, publicly)).toMatchObject({ public: true, clientSecret: null })
    const { code, stdout } = await local.run(`${publicly} -q`)
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^app_\w+\n$/) })
    expect((await local.run('apps list -q')).stdout).toContain(stdout)
  })

  test.for([
    ['-q', {}, '--quiet'],
    ['', { LEARNCTL_QUIET: '1' }, 'LEARNCTL_QUIET'],
    ['--columns clientId,name', {}, '--columns'],
  ] as const)('is refused where the secret would be lost: %s %j', async ([flags, env, name], { local }) => {
    const refused = await local.run(`${reports} ${flags}`, { env })
    expectClearError(refused, 2, `error: ${name} would lose the clientSecret, which is shown only once\n`)
    expect(refused.stderr).toContain('  hint: To print it alone: --columns clientSecret\n')
    expect(await rowsOf(local, 'apps list --columns clientId')).toEqual([['learnctl']])
  })

  test('asks for what it needs on a terminal', { tags: ['slow'] }, async ({ local }) => {
    const typed = ['Reports\r', 'https://reports.example/cb\r']
    const { code, stdout } = await local.run('apps create -o json', { tty: 80, typed })
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      name: 'Reports',
      redirectUris: ['https://reports.example/cb'],
    })
    expectClearError(
      await local.run('apps create'),
      2,
      '--name, --redirect-uri or --machine-scopes are required',
    )
  })

  test('says in its help what replaces the redirect URI', async ({ local }) => {
    const { stdout } = await local.run('apps create --help')
    expect(stdout.replace(/\s+/g, ' ')).toContain('(required without --machine-scopes)')
  })

  test('of one that acts for itself needs machine scopes instead of a redirect URI', {
    tags: ['slow'],
  }, async ({ local }) => {
    const created = await resultOf(
      local,
      'apps create --name Roster --machine-scopes roster.readonly,gradebook.readonly',
    )
    expect(created).toMatchObject({
      redirectUris: [],
      machineScopes: ['roster.readonly', 'gradebook.readonly'],
      clientSecret: expect.stringMatching(secret),
    })
    expectClearError(
      await local.run('apps create --name Roster --machine-scopes roster.readonly --public'),
      2,
      '--machine-scopes',
    )
  })

  test('tells each redirect URI that cannot be one', async ({ local }) => {
    const refused = await local.run([
      ...['apps', 'create', '--name', 'Bad', '--redirect-uri', 'http://reports.example/cb'],
      ...['--redirect-uri', 'com.example.app:/cb'],
    ])
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toMatch(
      /^error: 2 problems found:\n {2}--redirect-uri "http:\/\/reports.example\/cb" must /,
    )
    expect(refused.stderr).toContain('\n  --redirect-uri "com.example.app:/cb" must ')
  })

  test('shows the request that it would send, which has no secret', async ({ local }) => {
    const { code, stdout } = await local.run(`${reports} --dry-run -o json`)
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      method: 'POST',
      body: { name: 'Reports', redirectUris: ['https://reports.example/cb'] },
    })
  })
})

test('list shows every application, learnctl itself among them; -q prints client ids', async ({ local }) => {
  const { clientId } = await resultOf(local, reports)
  expect(await rowsOf(local, 'apps list --columns clientId,name,public')).toEqual(
    expect.arrayContaining([
      [clientId, 'Reports', 'false'],
      ['learnctl', 'learnctl', 'true'],
    ]),
  )
  expect((await local.run('apps list -q')).stdout.split('\n').sort()).toEqual(['', clientId, 'learnctl'])
})

describe('delete', () => {
  test('asks first, naming the place, and ends what people allowed it', { tags: ['slow'] }, async ({
    remote,
    academy,
    admin,
  }) => {
    const env = { LEARNCTL_URL: 'https://school.example', LEARNCTL_API_KEY: admin.key }
    const { clientId } = await resultOf(remote, reports, { env })
    await createGrant(academy, { userId: admin.id, clientId })
    expectClearError(await remote.run(`apps delete ${clientId}`, { env }), 2, 'hint: Confirm with --yes')
    const asked = await remote.run(`apps delete ${clientId}`, { env, tty: 200, typed: ['Reports\r'] })
    expect(asked.code).toBe(0)
    expect(asked.stderr).toContain(
      `Delete application Reports (${clientId}) on school.example? Its grants and tokens are revoked. This cannot be undone.`,
    )
    expect(asked.stderr).toContain(`Deleted application Reports (${clientId})\n`)
    expect(await resultOf(remote, 'auth grants list', { env })).toEqual([])
    expect(await remote.run(`apps delete ${clientId} --yes`, { env })).toMatchObject({ code: 3, stdout: '' })
  })

  test('of learnctl itself is forbidden', async ({ local }) => {
    expectClearError(await local.run('apps delete learnctl --yes'), 5, 'learnctl is the built-in application')
  })
})
