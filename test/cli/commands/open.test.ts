import { join } from 'node:path'
import { describe, expect, onTestFinished } from 'vitest'
import { test as base, testCli, transportTo } from '../../helpers/cli.ts'
import { serve } from './serving.ts'

/** The program, and all pages that it opened. */
const test = base
  .extend('opened', (): string[] => [])
  .extend('browsing', async ({ academy, opened }, { onCleanup }) => {
    const cli = testCli({
      transport: transportTo(academy),
      openBrowser: async (url) => {
        opened.push(url)
      },
    })
    onCleanup(() => cli.remove())
    return cli
  })

const school = { LEARNCTL_URL: 'https://school.example/' }

describe('of a platform elsewhere', () => {
  test('it is below its address; a terminal or --browser opens it', async ({ browsing, opened }) => {
    expect(await browsing.run('open', { env: school, tty: 80 })).toEqual({
      code: 0,
      stdout: 'https://school.example/dashboard\n',
      stderr: '',
    })
    expect(opened).toEqual(['https://school.example/dashboard'])
    await browsing.run('open --browser', { env: school })
    expect(opened).toEqual(Array(2).fill('https://school.example/dashboard'))
  })

  test('nothing opens without a terminal, with --no-browser or dry', async ({ browsing, opened }) => {
    for (const [line, tty] of [
      ['open', undefined],
      ['open --no-browser', 80],
      ['open --dry-run', 80],
      ['open --dry-run --browser', undefined],
    ] as const) {
      const ran = await browsing.run(line, { env: school, ...(tty && { tty }) })
      expect({ line, ...ran }).toMatchObject({ code: 0, stdout: 'https://school.example/dashboard\n' })
    }
    expect(opened).toEqual([])
  })

  test('a browser that cannot be opened is a note, for the address is printed', async ({ academy }) => {
    const cli = testCli({
      transport: transportTo(academy),
      openBrowser: async () => {
        throw new Error('spawn ENOENT')
      },
    })
    onTestFinished(() => cli.remove())
    expect(await cli.run('open', { env: school, tty: 80 })).toEqual({
      code: 0,
      stdout: 'https://school.example/dashboard\n',
      stderr: 'note: Cannot open a browser: spawn ENOENT\n',
    })
  })
})

describe('a course', () => {
  test('is asked for by the credential, so the address has an id', async ({ browsing, admin, opened }) => {
    const { body } = await admin.post('/v1/courses', { title: 'Logic', externalId: 'LOG/1 (a)' })
    const env = { ...school, LEARNCTL_API_KEY: admin.key }
    const url = `https://school.example/dashboard/courses/${body.id}`
    for (const id of [body.id, 'ext:LOG/1 (a)']) {
      expect((await browsing.run(['open', 'course', id], { env, tty: 80 })).stdout).toBe(`${url}\n`)
    }
    expect(opened).toEqual([url, url])
  })

  test('that is not there exits 3, and opens nothing', async ({ browsing, admin, opened }) => {
    const env = { ...school, LEARNCTL_API_KEY: admin.key, NO_COLOR: '1' }
    expect(await browsing.run('open course crs_none', { env, tty: 80 })).toMatchObject({
      code: 3,
      stdout: '',
      stderr: expect.stringMatching(/^error: Course crs_none not found\n/),
    })
    expect(opened).toEqual([])
  })

  test('is taken as it is given without a credential, and in a dry run', async ({ browsing }) => {
    const url = 'https://school.example/dashboard/courses/ext%3ABIO\n'
    expect((await browsing.run('open course ext:BIO', { env: school })).stdout).toBe(url)
    const env = { ...school, LEARNCTL_API_KEY: 'lpk_unknown' }
    expect((await browsing.run('open course ext:BIO --dry-run', { env })).stdout).toBe(url)
  })

  test.for<[id: string, encoded: string]>([
    ['$(x)', '%24%28x%29'],
    ['"\'`', '%22%27%60'],
    ['a/../b?c#d', 'a%2F..%2Fb%3Fc%23d'],
    ['!*;|<>\\', '%21%2A%3B%7C%3C%3E%5C'],
  ])('whose id is %s reaches no shell', async ([id, encoded], { browsing, opened }) => {
    await browsing.run(['open', 'course', id], { env: school, tty: 80 })
    expect(opened).toEqual([`https://school.example/dashboard/courses/${encoded}`])
  })

  test.for(['.', '..', ''])('cannot be %j, which an address would lose', async (id, { browsing, opened }) => {
    const ran = await browsing.run(['open', 'course', id], { env: school, tty: 80 })
    expect(ran).toMatchObject({ code: 2, stdout: '' })
    expect(opened).toEqual([])
  })
})

describe('of an academy of this machine', () => {
  test('it is the one of the server that serves it', { tags: ['slow'] }, async ({ cli }) => {
    await cli.run('profiles add local --database a.db')
    await cli.run('profiles use local')
    const { printed } = await serve(cli)
    const [url] = printed.split('\n')
    expect((await cli.run('open')).stdout).toBe(`${url}/dashboard\n`)
    expect((await cli.run('open --dry-run')).stdout).toBe(`${url}/dashboard\n`)
    expect(await cli.run('open --database b.db')).toMatchObject({ code: 3, stdout: '' })
  })

  test('it is under the public address of that server', { tags: ['slow'] }, async ({ cli }) => {
    await serve(cli, '--database c.db --public-url https://learn.example.org/academy/')
    expect((await cli.run('open --database c.db')).stdout).toBe(
      'https://learn.example.org/academy/dashboard\n',
    )
  })

  test('without a server it says how to start one', async ({ cli }) => {
    await cli.run('profiles add local --database a.db')
    await cli.run('profiles use local')
    expect(await cli.run('open', { tty: 80, env: { NO_COLOR: '1' } })).toEqual({
      code: 3,
      stdout: '',
      stderr: `error: No server is running for ${join(cli.cwd, 'a.db')}
  hint: Start one: learnctl server start --detach
`,
    })
    const { stderr } = await cli.run('open --database b.db')
    expect(stderr).toMatch(/ {2}hint: .*: learnctl server start --detach --database .*b\.db\n$/)
  })
})

test.for([
  ['open dashbord', 2, /^error: Cannot open "dashbord"(.|\n)*Did you mean dashboard/],
  ['open course', 2, /^error: <id> of the course is required/],
  ['open dashboard crs_1', 2, /^error: The dashboard takes no id/],
  ['open -q', 2, /^error: --quiet is not supported here/],
  ['open', 4, /^error: No platform or academy is selected/],
] as const)('%s is refused in one clear line', async ([line, code, message], { cli }) => {
  expect(await cli.run(line)).toMatchObject({ code, stdout: '', stderr: expect.stringMatching(message) })
})
