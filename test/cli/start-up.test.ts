import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test as base, expect } from 'vitest'
import { openAcademy } from '../../src/server/local.ts'
import { freshDirectory } from '../helpers/academy.ts'
import { bin, run } from '../helpers/process.ts'

/** Writes to a file which of our files, and which modules of Node, a process has loaded when it ends. */
const recorder = `
  const { registerHooks } = process.getBuiltinModule('node:module')
  const files = []
  registerHooks({ load(url, context, next) { files.push(url); return next(url, context) } })
  process.on('exit', () => {
    const modules = process.moduleLoadList.filter((each) => /^NativeModule [a-z_]+$/.test(each))
    process.getBuiltinModule('node:fs').writeFileSync(process.env.LOADED, JSON.stringify({ files, modules }))
  })`

/** What a run of what was built loads, on an academy of its own; chunks in the order of the alphabet. */
const test = base.extend('loadedBy', async ({ task: _ }, { onCleanup }) => {
  const { path, remove } = freshDirectory()
  onCleanup(remove)
  const database = join(path, 'academy.db')
  await (await openAcademy({ path: database })).close()
  const loaded = join(path, 'loaded.json')
  writeFileSync(join(path, 'recorder.mjs'), recorder)
  return async (...words: readonly string[]) => {
    const { code } = await run(
      process.execPath,
      ['--import', join(path, 'recorder.mjs'), bin, ...words, '--database', database],
      { cwd: path, env: { HOME: path, LOADED: loaded } },
    )
    expect(code).toBe(0)
    const { files, modules } = JSON.parse(readFileSync(loaded, 'utf8')) as Record<string, string[]>
    return {
      // The hash of what is in a chunk stands behind its name.
      chunks: files?.map((url) => /([^/]+?)(-[\w-]{8})?\.js$/.exec(url)?.[1]).sort(),
      modules: modules?.map((each) => each.replace('NativeModule ', '')),
    }
  }
})

/** What every command on a local academy is made of. */
const every = ['calls', 'learnctl', 'main', 'program', 'run', 'server']

test.for([
  ['courses list', 'courses courses'],
  ['users list', 'users users'],
  ['progress get email:admin@academy.local', 'courses progress progress users'],
] as const)(
  '%s on a local academy loads no schema, and no file that only passes on another',
  async ([words, own], { loadedBy }) => {
    const { chunks } = await loadedBy(...words.split(' '))
    expect(chunks).toEqual([...every, ...own.split(' ')].sort())
  },
)

test.for([
  ['', 'complete learnctl main program'],
  ['courses li', 'complete courses learnctl main program'],
  ['courses create --difficulty ', 'complete courses learnctl main program'],
] as const)(
  'completing «%s» loads the program and what it completes',
  async ([line, chunks], { loadedBy }) => {
    const loaded = await loadedBy('__complete', 'fish', `learnctl ${line}`)
    expect(loaded.chunks).toEqual(chunks.split(' '))
    expect(loaded.modules).not.toContain('sqlite')
  },
)

test.for([['courses'], ['users']] as const)(
  '%s list on a local academy loads no cryptography, and nothing that measures',
  async ([noun], { loadedBy }) => {
    const { modules } = await loadedBy(noun, 'list')
    expect(modules).toContain('sqlite')
    expect(modules).not.toContain('crypto')
    expect(modules).not.toContain('perf_hooks')
  },
)

test('no command loads what starts other programs', async ({ loadedBy }) => {
  const { modules } = await loadedBy('courses', 'create', '--title', 'Biology')
  expect(modules).toContain('sqlite')
  expect(modules).not.toContain('child_process')
})
