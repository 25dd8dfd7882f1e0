import { describe, expect } from 'vitest'
import { test } from '../../helpers/cli.ts'
import { expectClearError, resultOf } from '../../helpers/result.ts'
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

  test('of a public application has none; -q prints its id', { tags: ['slow'] }, async ({ local }) => {
    const publicly = 'apps create --name Desk --redirect-uri com.example.desk:/callback --public'
    expect(await resultOf(local, publicly)).toMatchObject({ public: true, clientSecret: null })
    const { code, stdout } = await local.run(`${publicly} -q`)
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^app_\w+\n$/) })
    expect((await local.run('apps list -q')).stdout).toContain(stdout)
  })

  test('needs a name, and either redirect URIs or machine scopes', async ({ local }) => {
    const refused = await local.run('apps create')
    expectClearError(refused, 2, '--name, --redirect-uri or --machine-scopes are required')
  })

  test('of one that acts for itself needs machine scopes alone', { tags: ['slow'] }, async ({ local }) => {
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
})

test('delete asks, and ends what was allowed', { tags: ['slow'] }, async ({ remote, academy, admin }) => {
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
