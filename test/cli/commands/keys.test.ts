import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished } from 'vitest'
import { test, testCli, transportTo } from '../../helpers/cli.ts'
import { expectClearError, resultOf, rowsOf } from '../../helpers/result.ts'

const url = 'https://school.example'
const withKey = (key: string) => ({ env: { LEARNCTL_URL: url, LEARNCTL_API_KEY: key } })

describe('create', () => {
  test('prints a key once, that works and may only read', async ({ remote, admin }) => {
    const created = await resultOf(remote, 'keys create --name ci', withKey(admin.key))
    expect(created).toMatchObject({ name: 'ci', userId: admin.id, scopes: ['read'] })
    expect(created.expiresAt).toBe('2027-03-01T12:00:00.000Z')
    expect(created.key).toMatch(/^lpk_[0-9A-Za-z]{36}$/)
    expect(await resultOf(remote, 'users me', withKey(created.key))).toMatchObject({ scopes: ['read'] })
    expect(await remote.run('courses create --title Sea', withKey(created.key))).toMatchObject({ code: 5 })
    const listed = await remote.run('keys list -o json', withKey(admin.key))
    expect(listed.stdout).toContain(created.id)
    expect(listed.stdout).not.toContain(created.key)
    expect(listed.stdout).toContain(created.key.slice(-4))
  })

  test('says when a key expires for which no time was given', { tags: ['slow'] }, async ({ local }) => {
    const note = 'note: The key expires on 2027-03-01; use --expires-at to set another time, or never\n'
    for (const flags of ['', '--columns key']) {
      expect((await local.run(`keys create --name ci ${flags}`)).stderr).toBe(note)
    }
    for (const flags of ['--expires-at never', '--expires 1y', '-o json']) {
      expect((await local.run(`keys create --name ci ${flags}`)).stderr).toBe('')
    }
    expect((await rowsOf(local, 'keys list --columns expiresAt')).flat().toSorted()).toEqual([
      '',
      ...Array(4).fill('2027-03-01T12:00:00.000Z'),
    ])
  })

  test('asks what it is for on a terminal, and shows the whole key there', async ({ local }) => {
    const { code, stdout, stderr } = await local.run('keys create --color never', {
      tty: 80,
      typed: ['exports\r'],
    })
    expect(code).toBe(0)
    expect(stderr).toContain('note: Save the key now; it is shown only once\n')
    expect(stdout).toMatch(/^name +exports$/m)
    expect(stdout).toMatch(/^key +lpk_[0-9A-Za-z]{36}$/m)
  })
})

test('a key is not made where it could not be seen', async ({ local }) => {
  for (const [flags, name] of [
    ['-q', '--quiet'],
    ['--columns id,name -o csv', '--columns'],
    ['-q --dry-run', '--quiet'],
  ]) {
    const refused = await local.run(`keys create --name ci ${flags}`)
    expectClearError(
      refused,
      2,
      `error: ${name} would lose the key, which is shown only once
`,
    )
  }
  expect(await rowsOf(local, 'keys list')).toEqual([])
  expect(await rowsOf(local, 'keys create --name ci --columns key --expires-at never')).toEqual([
    [expect.stringMatching(/^lpk_\w{36}$/)],
  ])
  writeFileSync(join(local.cwd, 'learnctl.json'), '{"columns": ["id", "title"]}')
  expectClearError(await local.run('keys create --name ci'), 2, 'learnctl.json would lose the key')
  writeFileSync(join(local.cwd, 'learnctl.json'), '{"columns": ["title", "email"]}')
  expect((await rowsOf(local, 'keys create --name ci --expires-at never'))[0]?.at(-1)).toMatch(/^lpk_/)
})

test('a key whose answer was lost on the way is told of, to be made anew', async ({ academy, admin }) => {
  const send = transportTo(academy)
  let dropped = 0
  const cli = testCli({
    async transport(request) {
      const reply = await send(request)
      if (request.method !== 'POST' || dropped > 0) return reply
      dropped += 1
      return { status: 502, headers: {}, body: '<h1>Bad Gateway</h1>' }
    },
  })
  onTestFinished(cli.remove)
  const { code, stdout, stderr } = await cli.run('keys create --name ci -o json', withKey(admin.key))
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: 'note: The response with the key was lost; revoke the key and create another\n',
  })
  expect(JSON.parse(stdout)).toMatchObject({ name: 'ci', key: null })
  expect((await admin.get(`/v1/keys?user_id=${admin.id}`)).body.data).toHaveLength(2)
})

test('keys are listed of one user, and told apart on a narrow terminal', async ({ local }) => {
  await local.run('users create --email ada@school.example')
  await local.run('keys create --name hers --user email:ada@school.example')
  await local.run('keys create --name mine')
  expect(await rowsOf(local, 'keys list --user email:ada@school.example --columns name')).toEqual([['hers']])
  const { stdout } = await local.run('keys list --color never', { tty: 80 })
  expect(stdout).toMatch(/^name +last4 +scopes +expiresAt +id$/m)
})
