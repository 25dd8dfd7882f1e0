import { cpSync, mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test as base, describe, expect } from 'vitest'
import { isAlive } from '../../src/config/lock.ts'
import { freshDirectory } from '../helpers/academy.ts'
import { run as runProgram, startProcess } from '../helpers/process.ts'

const launcher = new URL('../../bin/learnctl.js', import.meta.url)

/** The launcher with a program that prints its arguments. */
const test = base.extend('installed', async ({ task }, { onCleanup }) => {
  const directory = freshDirectory()
  onCleanup(directory.remove)
  const at = (name: string) => join(directory.path, name)
  mkdirSync(at('bin'))
  mkdirSync(at('dist'))
  for (const name of ['learnctl.js', 'package.json']) cpSync(new URL(name, launcher), at(`bin/${name}`))
  writeFileSync(at('package.json'), JSON.stringify({ name: task.id, type: 'module', version: '1.2.3' }))
  writeFileSync(
    at('dist/main.cjs'),
    "exports.start = async () => { console.log('started', ...process.argv.slice(2)); process.exitCode = 3 }",
  )
  return at
})

function run(script: string, words: readonly string[], before: readonly string[] = []) {
  return runProgram(process.execPath, [...before, script, ...words])
}

/** Installs a Node of its own beside the launcher: this one, or another program. */
function bringNode(installed: (name: string) => string, program = `'${process.execPath}' "$@"`): void {
  mkdirSync(installed('node_modules/node/bin'), { recursive: true })
  writeFileSync(installed('node_modules/node/bin/node'), `#!/bin/sh\nexec ${program}\n`, { mode: 0o755 })
}

/** A Node that reports another version. */
function pretending(version: string): string[] {
  const script = `Object.defineProperty(process.versions, 'node', { value: '${version}' })
    Object.defineProperty(process, 'version', { value: 'v${version}' })`
  return ['--import', `data:text/javascript,${encodeURIComponent(script)}`]
}

describe('the launcher', () => {
  test('starts the program with its words, and leaves its exit code', async ({ installed }) => {
    for (const words of [
      ['version', '-q'],
      ['courses', '--help'],
      ['help', 'flags'],
      ['-o', 'json'],
    ]) {
      const { code, stdout } = await run(installed('bin/learnctl.js'), words)
      expect({ code, stdout }).toEqual({ code: 3, stdout: `started ${words.join(' ')}\n` })
    }
  })

  test('answers by itself what the build has stored: the version, and the help', async ({ installed }) => {
    const answer = async (word: string) => (await run(installed('bin/learnctl.js'), [word])).stdout
    expect(await answer('--help')).toBe('started --help\n')
    expect(await answer('')).toBe('started \n')
    writeFileSync(installed('dist/help.txt'), 'Usage: of ours\n')
    for (const word of ['--help', '-h', 'help']) expect(await answer(word)).toBe('Usage: of ours\n')
    for (const word of ['--version', '-V', '-v', 'version']) expect(await answer(word)).toBe('1.2.3\n')
  })

  test('says so in one line when there is no program', async ({ installed }) => {
    writeFileSync(installed('dist/main.cjs'), "require('./missing.cjs')")
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
          `^error: Node v${version} is not supported: .* Node 24\\.15 or newer.*\\n  hint: Install it .* or run: npx .*\\n$`,
        ),
      )
      expect(stderr).toContain(` npx -p node@24 node ${realpathSync(installed('bin/learnctl.js'))}\n`)
    },
  )

  test('tells how a clone gets a Node, in a clone', async ({ installed }) => {
    writeFileSync(installed('package-lock.json'), '{}')
    const { stderr } = await run(installed('bin/learnctl.js'), ['--version'], pretending('20.20.2'))
    expect(stderr).toMatch(/\n {2}hint: .*npm ci\n$/)
  })

  test('runs on the Node that came along where the system has an old one', async ({ installed }) => {
    bringNode(installed)
    symlinkSync(installed('bin/learnctl.js'), installed('learnctl'))
    for (const version of ['12.0.0', '20.20.2', '25.9.0']) {
      const old = pretending(version)
      const { code, stdout } = await run(installed('learnctl'), ['courses', 'a  b'], old)
      expect({ code, stdout }).toEqual({ code: 3, stdout: 'started courses a  b\n' })
    }
  })

  test('passes on what ends it', async ({ installed }) => {
    bringNode(installed)
    writeFileSync(
      installed('dist/main.cjs'),
      `exports.start = async () => {
        const waiting = setInterval(() => {}, 1000)
        process.on('SIGTERM', () => { clearInterval(waiting); process.exitCode = 143 })
        console.log('ready')
      }`,
    )
    const words = [...pretending('20.20.2'), installed('bin/learnctl.js'), 'courses']
    const { printed, kill, ended } = startProcess(process.execPath, words)
    await printed(/ready/)
    kill('SIGTERM')
    expect(await ended).toMatchObject({ code: 143, signal: null })
  })

  test('takes the program along when it is killed, and what that has started', async ({ installed }) => {
    bringNode(installed)
    writeFileSync(
      installed('dist/main.cjs'),
      `const { writeFileSync } = require('node:fs')
      exports.start = async () => {
        const waiting = setInterval(() => {}, 1000)
        process.on('SIGTERM', () => {
          clearInterval(waiting)
          writeFileSync(${JSON.stringify(installed('ended'))}, process.env.LEARNCTL_LAUNCHED ?? 'not passed on')
        })
        process.stdin.once('data', () => console.log(process.pid))
      }`,
    )
    const words = [...pretending('20.20.2'), installed('bin/learnctl.js'), 'courses']
    const { stdin, printed, kill } = startProcess(process.execPath, words, { stdin: null })
    stdin.write('go')
    const [pid] = await printed(/\d+(?=\n)/)
    expect(isAlive(Number(pid))).toBe(true)
    kill('SIGKILL')
    await expect.poll(() => isAlive(Number(pid))).toBe(false)
    expect(readFileSync(installed('ended'), 'utf8')).toBe('not passed on')
  })

  test('leaves no program behind, whenever a signal ends it', async ({ installed }) => {
    bringNode(installed, 'sleep 60')
    // The signal arrives while the program is being started.
    const early = `const { spawn } = process.getBuiltinModule('node:child_process')
      const { syncBuiltinESMExports } = process.getBuiltinModule('node:module')
      process.getBuiltinModule('node:child_process').spawn = (...all) => {
        const child = spawn(...all)
        process.getBuiltinModule('node:fs').writeFileSync(${JSON.stringify(installed('pid'))}, String(child.pid))
        process.kill(process.pid, 'SIGTERM')
        return child
      }
      syncBuiltinESMExports()`
    const before = [...pretending('20.20.2'), '--import', `data:text/javascript,${encodeURIComponent(early)}`]
    expect(await run(installed('bin/learnctl.js'), ['courses'], before)).toMatchObject({ signal: 'SIGTERM' })
    expect(isAlive(Number(readFileSync(installed('pid'), 'utf8')))).toBe(false)
  })

  test.for([['24.15.0'], ['24.99.0'], ['26.0.0'], ['30.1.0']])(
    'runs on Node %s',
    async ([version = ''], { installed }) => {
      expect(await run(installed('bin/learnctl.js'), ['courses'], pretending(version))).toMatchObject({
        code: 3,
      })
    },
  )

  base('is written so that an old Node can read it', () => {
    const code = readFileSync(launcher, 'utf8').replace(/^\s*\/\/.*$/gm, '')
    expect(code).not.toMatch(/\?\.|\?\?|import\.meta|^\s*(import|export|await)\b(?!\()/m)
  })
})
