import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import manifest from '../package.json' with { type: 'json' }
import { topHelp } from '../src/cli/program/host.ts'
import { listen } from './helpers/listen.ts'
import { bin, type Ended, isExecutable, launch, root, run, runLearnctl } from './helpers/process.ts'

const home = mkdtempSync(join(tmpdir(), 'learnctl-bin-'))
const database = join(home, 'academy.db')
const files: string[] = [home]

/** Runs the built program on the home directory of this test. */
function learnctl(words: readonly string[], start: Parameters<typeof runLearnctl>[1] = {}): Promise<Ended> {
  return runLearnctl(words, { cwd: home, ...start, env: { HOME: home, ...start.env } })
}

function freshDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), 'learnctl-bin-'))
  files.push(path)
  return path
}

/** Serves a handler on a free loopback port until `use` ends. */
async function serving<Result>(
  handle: RequestListener,
  use: (url: string) => Promise<Result>,
): Promise<Result> {
  const { url, close } = await listen(createServer(handle))
  try {
    return await use(url)
  } finally {
    await close()
  }
}

beforeAll(async () => {
  const { code, stderr } = await learnctl(['quickstart', '--database', database])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
})

afterAll(() => {
  for (const path of files) rmSync(path, { recursive: true, force: true })
})

test('--help, help and no word at all print the same help', async () => {
  const [help, ...others] = await Promise.all(
    [['--help'], ['-h'], ['help'], []].map((words) => learnctl(words)),
  )
  expect(help?.stdout).toMatch(/^Usage: learnctl <command>/)
  for (const ended of [help, ...others]) {
    expect(ended).toEqual({ code: 0, signal: null, stdout: help?.stdout, stderr: '' })
  }
  // The build has stored what the program says.
  expect(help?.stdout).toBe(topHelp())
})

test('help --notices prints the licences of all that it contains', async () => {
  const { code, stdout, stderr } = await learnctl(['help', '--notices'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toContain(readFileSync(join(root, 'dist/THIRD-PARTY-NOTICES.txt'), 'utf8').trimEnd())
  const ofNode = /^Node\.js \S+\n\nNode\.js is licensed for use as follows:\n[\s\S]*^- V8, located at/m
  if (isExecutable) expect(stdout).toMatch(ofNode)
  else expect(stdout).not.toMatch(ofNode)
})

/** Path of a Node on this machine that is too old; undefined without one. */
const oldNode = (process.env['PATH'] ?? '')
  .split(delimiter)
  .map((directory) => join(directory, 'node'))
  .filter((path) => existsSync(path))
  .find((path) => Number(execFileSync(path, ['-p', 'process.versions.node']).toString().split('.')[0]) < 24)

// The executable has its Node inside.
test.skipIf(oldNode === undefined || isExecutable).for([[], ['--version'], ['courses', 'list']])(
  'a Node that is too old starts the one that came along: %j',
  async (words) => {
    const start = { cwd: home, env: { HOME: home } }
    const [ended, usual] = await Promise.all([run(oldNode ?? '', [bin, ...words], start), learnctl(words)])
    expect(ended).toEqual(usual)
  },
)

test('it is a program: a link to it runs by its first line', async () => {
  const link = join(freshDirectory(), 'learnctl')
  symlinkSync(launch.at(-1) ?? '', link)
  const [version, list] = await Promise.all(
    [['--version'], ['courses', 'list', '-q', '--limit', '1', '--database', database]].map((words) =>
      run(link, words, { cwd: home, env: { HOME: home } }),
    ),
  )
  expect(version).toMatchObject({ code: 0, stdout: `${manifest.version}\n` })
  expect(list).toMatchObject({ code: 0, stdout: expect.stringMatching(/^crs_\w+\n$/) })
})

test('a long list goes through a pipe as a whole', async () => {
  const words = ['users', 'list', '--all', '-o', 'json', '--database', database]
  const { code, stdout, stderr } = await learnctl(words)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout.length).toBeGreaterThan(4 * 64 * 1024)
  expect(JSON.parse(stdout)).toHaveLength(621)
})

test.for([
  ['users', 'list', '--all', '-o', 'json'],
  ['users', 'list', '--all', '-o', 'jsonl'],
  ['analytics', 'export'],
  ['server', 'openapi'],
])('a reader who leaves early is no fault: learnctl %j', async (words) => {
  const ended = await learnctl(words, {
    env: { LEARNCTL_DATABASE: database },
    watch: ({ stdout }) => stdout?.once('data', () => stdout.destroy()),
  })
  expect(ended).toMatchObject({ code: 0, signal: null })
  // A slow reader gets all that fits into the pipe before it leaves.
  expect(ended.stderr).toMatch(/^(Exported \d+ rows\n)?$/)
})

test.for([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 143],
] as const)('%s in the middle of an export ends it and leaves no file', async ([signal, code]) => {
  const cwd = freshDirectory()
  let during: string[] = []
  let kill = () => {}
  const ended = await serving(
    (_, response) => {
      response.writeHead(200, { 'content-type': 'text/csv' })
      response.write('learnerId,email\r\nusr_1,ada@example.org\r\n', () => {
        during = readdirSync(cwd)
        kill()
      })
    },
    (url) =>
      learnctl(['analytics', 'export', '--file', 'learners.csv', '--url', url], {
        cwd,
        env: { LEARNCTL_API_KEY: 'secret' },
        watch: (child) => {
          kill = () => child.kill(signal)
        },
      }),
  )
  expect(during).toEqual([expect.stringMatching(/^learners\.csv\..*\.part$/)])
  expect(ended).toMatchObject({ code, signal: null, stdout: '' })
  expect(ended.stderr).not.toMatch(/^\s+at /m)
  expect(readdirSync(cwd)).toEqual([])
})

test('an export is written into a pipe that is named as its file', async ({ skip }) => {
  if (!existsSync('/dev/stdout')) return skip('there is no /dev/stdout here')
  const words = ['analytics', 'export', '--columns', 'email', '--file', '/dev/stdout']
  const line = [...launch, ...words].map((word) => `'${word}'`).join(' ')
  const { stdout, stderr } = await run('sh', ['-c', `${line} | cat`], {
    cwd: home,
    env: { HOME: home, LEARNCTL_DATABASE: database },
  })
  expect(stderr).toBe('Exported 622 rows to /dev/stdout\n')
  expect(stdout.split('\n')).toHaveLength(624)
})
