import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { Command } from '../../src/cli/command/command.ts'
import { nouns } from '../../src/cli/program/nouns.ts'
import { InterruptedError } from '../../src/cli/terminal/errors.ts'
import { visit } from '../auth/school.ts'
import { openTestAcademy, type Person, type TestAcademy } from '../helpers/academy.ts'
import { plainBrowser } from '../helpers/browser.ts'
import { elsewhere, type Ran, type RunOptions, type TestCli, testCli } from '../helpers/cli.ts'
import { host } from '../helpers/host.ts'
import { bin, run } from '../helpers/process.ts'
import { runLine } from '../helpers/shell.ts'
import { givePassword, password } from '../server/oauth/flow.ts'

const platform = 'https://academy.example.org'
const terminated = 143

let cli: TestCli
let afterQuickstart: string
/** The academy at the platform's address, and its admin; of the examples that ask for it alone. */
let academy: TestAcademy
let admin: Person
let openBrowser: (url: string) => Promise<void>
let onWait: () => Promise<void>

beforeAll(async () => {
  cli = testCli({
    transport: (request) => elsewhere(academy)(request),
    openBrowser: (url) => openBrowser(url),
    sleep: async (ms, signal) => {
      if (ms >= 300_000) await new Promise((_, reject) => signal?.addEventListener('abort', reject))
      academy?.clock.advance(ms)
      await onWait()
    },
    env: { DISPLAY: ':0' },
  })
  expect(await cli.run('quickstart')).toMatchObject({ code: 0 })
  writeFileSync(join(cli.cwd, 'course.yaml'), 'title: Marine Biology\ndifficulty: beginner\n')
  writeFileSync(join(cli.cwd, 'lesson.yaml'), 'title: Corals\ndurationMinutes: 30\n')
  writeFileSync(join(cli.cwd, 'password.txt'), `${password}\n`)
  afterQuickstart = mkdtempSync(join(tmpdir(), 'learnctl-examples-'))
  cpSync(cli.home, afterQuickstart, { recursive: true })
})

beforeEach(() => {
  rmSync(cli.home, { recursive: true })
  cpSync(afterQuickstart, cli.home, { recursive: true })
  openBrowser = async () => {}
  onWait = async () => {}
})

afterAll(() => {
  cli.remove()
  rmSync(afterQuickstart, { recursive: true })
})

/** Makes what an example needs beside what quickstart left, and says how it is run then. */
type Need = (line: string) => Promise<RunOptions>

/** Every command whose examples cannot work on what quickstart leaves alone, by the reason. */
const needs: readonly (readonly [commands: RegExp, reason: string, need: Need])[] = [
  [/^auth login/, 'signs in to a platform elsewhere, in a browser', signIn],
  [/--profile work|^auth (logout|token)|^profiles remove/, 'names the profile of a platform', signedIn],
  [
    /^keys revoke/,
    'names a key',
    async () => {
      expect(await cli.run('keys create --name ci')).toMatchObject({ code: 0 })
      return named('KEY_ID', 'keys list -q')
    },
  ],
  [
    /^apps delete/,
    'names an application',
    async () => named('CLIENT_ID', 'apps create --name Desk --redirect-uri http://127.0.0.1/ --public -q'),
  ],
  [/^auth grants revoke/, 'names what somebody allowed an application, on the platform', grant],
  [/^open/, 'opens what a server shows', serve],
]

/** Commands that start or end processes: those examples are run as a user runs them. */
const inProcesses = /^server (start|stop)/

async function openPlatform(): Promise<void> {
  academy = await openTestAcademy()
  onTestFinished(() => academy.close())
  admin = await academy.person('admin')
  writeFileSync(join(cli.cwd, 'key.txt'), `${admin.key}\n`)
}

async function signIn(line: string): Promise<RunOptions> {
  await openPlatform()
  givePassword(academy, admin.id)
  const browser = plainBrowser(academy.fetch, platform)
  openBrowser = async (url) => {
    const page = await browser.signIn(await browser.open(url), admin.email, password)
    if (line.includes('--device')) {
      const consent = await browser.submit(page, page.forms[0]?.fields ?? {})
      await browser.submit(consent, {}, 'Allow')
      return
    }
    const { leadsTo } = await browser.submit(page, {}, 'Allow')
    const visiting = visit(leadsTo ?? '')
    onTestFinished(async () => void (await visiting))
  }
  return {}
}

async function signedIn(): Promise<RunOptions> {
  await openPlatform()
  const line = `auth login --with-key --url ${platform} --profile work`
  expect(await cli.run(line, { stdin: admin.key })).toMatchObject({ code: 0 })
  return {}
}

async function grant(): Promise<RunOptions> {
  await signIn('')
  expect(await cli.run(`auth login --url ${platform} --scope "read write admin"`)).toMatchObject({ code: 0 })
  return named('GRANT_ID', 'auth grants list -q')
}

/** The id that a command prints, in a variable of the shell. */
async function named(name: string, line: string): Promise<RunOptions> {
  const { code, stdout } = await cli.run(line)
  expect(code).toBe(0)
  return { env: { [name]: stdout.trim() } }
}

async function serve(): Promise<RunOptions> {
  const controller = new AbortController()
  const { promise: printed, resolve } = Promise.withResolvers<string>()
  const ended = cli.run('server start --port 0', { signal: controller.signal, onStdout: resolve })
  onTestFinished(async () => {
    controller.abort(new InterruptedError('SIGTERM'))
    await ended
  })
  await printed
  return {}
}

/** Runs an example as a process; a port that is named nowhere is any free one, as this machine's 4700 may be taken. */
async function inProcess(line: string): Promise<Ran> {
  const learnctl = (words: string, until?: RegExp) =>
    run(process.execPath, [bin, ...words.split(' ')], {
      cwd: cli.cwd,
      env: { HOME: cli.home },
      watch: (child) =>
        until && child.stdout?.on('data', (text: Buffer) => until.test(`${text}`) && child.kill()),
    })
  const database = /--database \S+/.exec(line)?.[0] ?? ''
  const start = (words: string) => (words.includes('--port') ? words : `${words} --port 0`)
  const stop = `server stop ${database}`.trim()
  if (line.startsWith('server stop')) await learnctl(start(`server start --detach ${database}`.trim()))
  const foreground = line.startsWith('server start') && !line.includes('--detach')
  const { code, stdout, stderr } = await learnctl(
    line.startsWith('server start') ? start(line) : line,
    foreground ? /http:/ : undefined,
  )
  if (line.includes('--detach')) await learnctl(stop)
  return { code: foreground && code === terminated ? 0 : (code ?? 1), stdout, stderr }
}

const examples: (readonly [line: string, command: string])[] = []
const without: string[] = []
for (const [noun, { load }] of Object.entries(nouns)) {
  const loaded = await load(host)
  const commands: readonly Command[] = 'length' in loaded ? loaded : [loaded]
  for (const { name, examples: lines = [] } of commands) {
    const path = name === noun ? noun : `${noun} ${name}`
    if (lines.length === 0) without.push(path)
    examples.push(...lines.map((line) => [line, path] as const))
  }
}

describe('examples in help', () => {
  test('every command has one, and each calls the command that it stands at', () => {
    expect(without).toEqual([])
    expect(examples.filter(([line, path]) => !`${line} `.startsWith(`${path} `))).toEqual([])
  })

  test('what is said to need something is there', () => {
    for (const [commands] of needs) {
      expect(examples.filter(([line]) => commands.test(line))).not.toEqual([])
    }
  })

  test.for(examples)('learnctl %s', async ([line]) => {
    const [, , need] = needs.find(([commands]) => commands.test(line)) ?? []
    const options = (await need?.(line)) ?? {}
    const ran = inProcesses.test(line) ? await inProcess(line) : await runLine(cli, line, options)
    expect(ran, ran.stderr).toMatchObject({ code: 0 })
  })
})
