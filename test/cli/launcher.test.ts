import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  cpSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { test as base, describe, expect } from 'vitest'
import { freshDirectory } from '../helpers/academy.ts'

const launcher = new URL('../../bin/learnctl.js', import.meta.url)

/** The launcher beside a program that prints the words it was started with. */
const test = base.extend('installed', async ({ task }, { onCleanup }) => {
  const directory = freshDirectory()
  onCleanup(directory.remove)
  const at = (name: string) => join(directory.path, name)
  mkdirSync(at('bin'))
  mkdirSync(at('dist'))
  cpSync(launcher, at('bin/learnctl.js'))
  writeFileSync(at('package.json'), JSON.stringify({ name: task.id, type: 'module' }))
  writeFileSync(at('dist/version.txt'), '1.2.3\n')
  writeFileSync(at('dist/help.txt'), 'the help\n')
  writeFileSync(
    at('dist/main.js'),
    "export async function start() { console.log('started', ...process.argv.slice(2)); process.exitCode = 3 }",
  )
  return at
})

function run(script: string, words: readonly string[], before: readonly string[] = []) {
  return new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, [...before, script, ...words], (error, stdout, stderr) => {
      resolve({ code: error ? error.code : 0, stdout, stderr })
    })
  })
}

/** A Node that says it is another one. */
function pretending(version: string): string[] {
  const script = `Object.defineProperty(process.versions, 'node', { value: '${version}' })
    Object.defineProperty(process, 'version', { value: 'v${version}' })`
  return ['--import', `data:text/javascript,${encodeURIComponent(script)}`]
}

describe('the launcher', () => {
  test.for([
    [[], 'the help\n'],
    [['--help'], 'the help\n'],
    [['-h'], 'the help\n'],
    [['help'], 'the help\n'],
    [['--version'], '1.2.3\n'],
    [['--version', 'courses'], '1.2.3\n'],
  ] as const)('answers %j from the texts beside the program', async ([words, stdout], { installed }) => {
    expect(await run(installed('bin/learnctl.js'), words)).toEqual({ code: 0, stdout, stderr: '' })
  })

  test('writes more than a pipe holds', async ({ installed }) => {
    const help = 'x'.repeat(300_000)
    writeFileSync(installed('dist/help.txt'), help)
    expect(await run(installed('bin/learnctl.js'), ['--help'])).toEqual({ code: 0, stdout: help, stderr: '' })
  })

  test('leaves quietly when nobody reads any more', async ({ installed }) => {
    writeFileSync(installed('dist/help.txt'), 'x'.repeat(300_000))
    const child = spawn(process.execPath, [installed('bin/learnctl.js'), '--help'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    child.stdout.destroy()
    const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'close')])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  })

  test('says that it cannot write them to a full disk', async ({ installed, skip }) => {
    if (!statSync('/dev/full', { throwIfNoEntry: false })) return skip('there is no /dev/full here')
    const full = openSync('/dev/full', 'w')
    const child = spawn(process.execPath, [installed('bin/learnctl.js'), '--help'], {
      stdio: ['ignore', full, 'pipe'],
    })
    // A pipe, as it is started here; the type speaks of any child.
    const [stderr, [code]] = await Promise.all([text(child.stderr as Readable), once(child, 'close')])
    closeSync(full)
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'error: Cannot write the output: the disk is full\n',
    })
  })

  test('starts the program with all other words, and leaves its exit code', async ({ installed }) => {
    for (const words of [
      ['courses', '--help'],
      ['help', 'flags'],
      ['-o', 'json'],
    ]) {
      const { code, stdout } = await run(installed('bin/learnctl.js'), words)
      expect({ code, stdout }).toEqual({ code: 3, stdout: `started ${words.join(' ')}\n` })
    }
  })

  test('starts the program as well while the texts are being written', async ({ installed }) => {
    writeFileSync(installed('dist/version.txt'), '')
    expect((await run(installed('bin/learnctl.js'), ['--version'])).stdout).toBe('started --version\n')
  })

  test('finds its program through the link that npm makes', async ({ installed }) => {
    symlinkSync(installed('bin/learnctl.js'), installed('learnctl'))
    expect((await run(installed('learnctl'), ['--version'])).stdout).toBe('1.2.3\n')
  })

  test('says so in one line when there is no program', async ({ installed }) => {
    writeFileSync(installed('dist/main.js'), "import './missing.js'")
    const { code, stdout, stderr } = await run(installed('bin/learnctl.js'), ['courses'])
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/^error: Cannot load learnctl: .*\n$/)
  })

  test.for([['12.0.0'], ['20.20.2'], ['24.14.9'], ['25.9.0']])(
    'tells Node %s what it needs and how to get it, where none came along',
    async ([version = ''], { installed }) => {
      const { code, stdout, stderr } = await run(
        installed('bin/learnctl.js'),
        ['--version'],
        pretending(version),
      )
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toMatch(
        new RegExp(
          `^error: Node v${version} is not supported: .* Node 24\\.15 or newer.*\\n  hint: .*npm ci\\n$`,
        ),
      )
    },
  )

  test('runs on the Node that came along where the system has an old one', async ({ installed }) => {
    mkdirSync(installed('node_modules/node/bin'), { recursive: true })
    const own = installed('node_modules/node/bin/node')
    writeFileSync(own, `#!/bin/sh\nexec '${process.execPath}' "$@"\n`, { mode: 0o755 })
    symlinkSync(installed('bin/learnctl.js'), installed('learnctl'))
    for (const version of ['12.0.0', '20.20.2', '25.9.0']) {
      const old = pretending(version)
      expect(await run(installed('learnctl'), ['--version'], old)).toMatchObject({ stdout: '1.2.3\n' })
      const { code, stdout } = await run(installed('learnctl'), ['courses', 'a  b'], old)
      expect({ code, stdout }).toEqual({ code: 3, stdout: 'started courses a  b\n' })
    }
  })

  test('passes on what ends it', async ({ installed }) => {
    mkdirSync(installed('node_modules/node/bin'), { recursive: true })
    const own = installed('node_modules/node/bin/node')
    writeFileSync(own, `#!/bin/sh\nexec '${process.execPath}' "$@"\n`, { mode: 0o755 })
    writeFileSync(
      installed('dist/main.js'),
      `export async function start() {
        const waiting = setInterval(() => {}, 1000)
        process.on('SIGTERM', () => { clearInterval(waiting); process.exitCode = 143 })
        console.log('ready')
      }`,
    )
    const child = spawn(process.execPath, [...pretending('20.20.2'), installed('bin/learnctl.js'), 'courses'])
    child.stdout.once('data', () => child.kill('SIGTERM'))
    expect(await once(child, 'exit')).toEqual([143, null])
  })

  test.for([['24.15.0'], ['24.99.0'], ['26.0.0'], ['30.1.0']])(
    'runs on Node %s',
    async ([version = ''], { installed }) => {
      expect(await run(installed('bin/learnctl.js'), ['--version'], pretending(version))).toMatchObject({
        code: 0,
      })
    },
  )

  base('is written so that an old Node can read it', () => {
    const code = readFileSync(launcher, 'utf8').replace(/^\s*\/\/.*$/gm, '')
    expect(code).not.toMatch(/\?\.|\?\?|import\.meta|^\s*(import|export|await)\b(?!\()/m)
  })
})
