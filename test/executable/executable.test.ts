import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { test as base, describe, expect } from 'vitest'
import { freshDirectory } from '../helpers/fresh-directory.ts'
import { makeLargeOldAcademy } from '../helpers/old-academy.ts'
import { type Ended, launch, run, type Start, startLearnctl } from '../helpers/process.ts'

const [executable] = launch

/** Runs the executable in an empty home of its own, with a cache of its own. */
const test = base
  .extend('home', async ({ task: _ }, { onCleanup }) => {
    const { path, remove } = freshDirectory()
    onCleanup(remove)
    return path
  })
  .extend('learnctl', ({ home }) => (words: string, { env, ...start }: Start = {}): Promise<Ended> => {
    const own = { HOME: home, XDG_CACHE_HOME: undefined, TMPDIR: home, ...env }
    return run(executable, words.split(' '), { cwd: home, env: own, ...start })
  })
  .extend('serve', ({ learnctl }, { onCleanup }) => {
    // A test that is cut short leaves no server behind.
    onCleanup(async () => expect(await learnctl('server stop --all')).toMatchObject({ code: 0 }))
    return (flags: string) => learnctl(`server start --detach ${flags}`)
  })

test('has a checksum that sha256sum reads', () => {
  const sum = createHash('sha256').update(readFileSync(executable)).digest('hex')
  expect(readFileSync(`${executable}.sha256`, 'utf8')).toBe(`${sum}  ${basename(executable)}\n`)
})

test('alone in an empty home: quickstart, import, export leave one folder', async ({ home, learnctl }) => {
  expect(await learnctl('quickstart')).toMatchObject({ code: 0, stderr: '' })
  const stdin = 'email,firstName\nada@example.org,Ada\n'
  expect(await learnctl('users import -', { stdin })).toMatchObject({ code: 0 })
  expect(await learnctl('analytics export --file again.csv')).toMatchObject({ code: 0 })
  expect(readFileSync(join(home, 'again.csv'), 'utf8')).toMatch(/^learnerId,email,/)
  expect(readdirSync(home).sort()).toEqual(['.cache', '.config', '.local', 'again.csv', 'learners.csv'])
  expect(readdirSync(join(home, '.cache'))).toEqual(['learnctl'])
  const [id = ''] = readdirSync(join(home, '.cache/learnctl'))
  const detail = `${executable}, unpacked to ${join(home, '.cache/learnctl', id)}/`
  const { stdout } = await learnctl('doctor -o json')
  expect(JSON.parse(stdout)).toContainEqual({ check: 'Executable', status: 'ok', detail })
  rmSync(join(home, '.cache'), { recursive: true })
  expect((await learnctl('users get ada@example.org --columns firstName')).stdout).toContain('Ada')
})

test('serves in the background, and exports there in a thread of its own', async ({ serve }) => {
  const { url, key } = JSON.parse((await serve('--port 0 --database new.db -o json')).stdout)
  const headers = { authorization: `Bearer ${key}` }
  const exported = await fetch(`${url}/v1/analytics/learners?format=csv`, { headers })
  expect(exported.status).toBe(200)
  expect(await exported.text()).toMatch(/^learnerId,email,/)
})

test('with an empty HOME it keeps its files in the working directory', async ({ home, learnctl }) => {
  expect(await learnctl('--version', { env: { HOME: '' } })).toMatchObject({ code: 0, stderr: '' })
  expect(readdirSync(home)).toEqual(['.cache'])
})

test('upgrades a large academy of an earlier version in a process of its own', async ({ home, learnctl }) => {
  makeLargeOldAcademy(join(home, 'old.db'))
  const { code, stdout, stderr } = await learnctl('courses list -q --database old.db')
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^crs_/) })
  expect(stderr).toMatch(/^note: Upgrading .*\nnote: Upgrade: step 1 of \d/)
})

describe('what it unpacks', () => {
  test('is complete for each of many processes that start at once', async ({ home, learnctl }) => {
    const all = await Promise.all(Array.from({ length: 6 }, () => learnctl('help exit-codes')))
    expect(new Set(all.map((ended) => JSON.stringify(ended))).size).toBe(1)
    expect(all[0]).toMatchObject({ code: 0, stderr: '' })
    expect(readdirSync(join(home, '.cache/learnctl'))).toHaveLength(1)
  })

  test('is replaced if it was changed', async ({ home, learnctl }) => {
    const version = await learnctl('--version')
    const cache = join(home, '.cache/learnctl')
    const main = join(cache, readdirSync(cache)[0] ?? '', 'main.cjs')
    writeFileSync(main, 'exports.start = () => console.log("changed")')
    expect(await learnctl('--version')).toEqual(version)
    expect(readFileSync(main, 'utf8')).not.toContain('changed')
  })

  test('goes to the directory for temporary files if there can be no cache', async ({ home, learnctl }) => {
    writeFileSync(join(home, 'file'), '')
    const env = { XDG_CACHE_HOME: join(home, 'file') }
    expect(await learnctl('--version', { env })).toMatchObject({ code: 0, stderr: '' })
    expect(readdirSync(home).sort()).toEqual(['file', expect.stringMatching(/^learnctl-\w+$/)])
  })

  test('has no place: it says so, and what to do', async ({ home, learnctl }) => {
    writeFileSync(join(home, 'file'), '')
    const env = { XDG_CACHE_HOME: join(home, 'file'), TMPDIR: join(home, 'file') }
    const { code, stdout, stderr } = await learnctl('--version', { env })
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr.replaceAll(home, '~')).toMatch(
      /^error: Cannot unpack learnctl\n {2}~\/file\/learnctl: ENOTDIR\n {2}~\/file\/learnctl-\d+: ENOTDIR\n {2}hint: .*XDG_CACHE_HOME/,
    )
  })
})

test('Ctrl-C at a server ends it with 130', async ({ home }) => {
  const { printed, kill, ended } = startLearnctl(['server', 'start', '--port', '0'], {
    cwd: home,
    env: { HOME: home },
  })
  await printed(/^http:\S+\n/)
  kill('SIGINT')
  expect(await ended).toMatchObject({ code: 130 })
})
