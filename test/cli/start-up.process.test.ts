import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test as base, expect } from 'vitest'
import { openAcademy } from '../../src/server/academy/local-academy.ts'
import { freshDirectory } from '../helpers/academy.ts'
import { servePlatform } from '../helpers/platform-server.ts'
import { bin, run } from '../helpers/process.ts'

/** Module that writes the loaded files of ours and modules of Node to a file when a process ends. */
const recorder = `
  const { registerHooks } = process.getBuiltinModule('node:module')
  const files = []
  registerHooks({ load(url, context, next) { files.push(url); return next(url, context) } })
  process.on('exit', () => {
    const modules = process.moduleLoadList.filter((each) => /^NativeModule [a-z_]+$/.test(each))
    process.getBuiltinModule('node:fs').writeFileSync(process.env.LOADED, JSON.stringify({ files, modules }))
  })`

/** Returns the files and the modules of Node that a run of the built program loads on its own academy. */
const test = base.extend('loadedBy', async ({ task: _ }, { onCleanup }) => {
  const { path, remove } = freshDirectory()
  onCleanup(remove)
  const database = join(path, 'academy.db')
  await (await openAcademy({ path: database })).close()
  const loaded = join(path, 'loaded.json')
  writeFileSync(join(path, 'recorder.mjs'), recorder)
  return async (words: readonly string[], env: Readonly<Record<string, string>> = {}) => {
    const target = env['LEARNCTL_URL'] === undefined ? ['--database', database] : []
    const { code, stderr } = await run(
      process.execPath,
      ['--import', join(path, 'recorder.mjs'), bin, ...words, ...target],
      { cwd: path, env: { HOME: path, LOADED: loaded, ...env } },
    )
    expect(code, stderr).toBe(0)
    const { files, modules } = JSON.parse(readFileSync(loaded, 'utf8')) as Record<string, string[]>
    const own = (files ?? []).filter((url) => url.startsWith('file:'))
    return {
      files: own.length,
      hasZod: own.some((url) => readFileSync(new URL(url), 'utf8').includes('$ZodType')),
      hasForeign: own.some((url) => readFileSync(new URL(url), 'utf8').includes('says that nothing changed')),
      hasSqlite: modules?.includes('NativeModule sqlite'),
    }
  }
})

test.for(['courses list', 'users list', 'progress get email:admin@academy.local'])(
  '%s on a local academy loads few files, and no schema',
  async (words, { loadedBy }) => {
    const { files, hasZod, hasSqlite } = await loadedBy(words.split(' '))
    expect(files).toBeLessThanOrEqual(30)
    expect({ hasZod, hasSqlite }).toEqual({ hasZod: false, hasSqlite: true })
  },
)

test('a command that writes loads the schemas', async ({ loadedBy }) => {
  expect(await loadedBy(['courses', 'create', '--title', 'Biology'])).toMatchObject({ hasZod: true })
})

test.for(['', 'courses li', 'courses create --difficulty '])(
  'completing «%s» loads few files, no schema and no database',
  async (line, { loadedBy }) => {
    const { files, hasZod, hasSqlite } = await loadedBy(['__complete', 'fish', `learnctl ${line}`])
    expect(files).toBeLessThanOrEqual(15)
    expect({ hasZod, hasSqlite }).toEqual({ hasZod: false, hasSqlite: false })
  },
)

test('code for other platforms is not loaded for a server of this API', async ({ loadedBy }) => {
  const { path, remove } = freshDirectory()
  const server = await servePlatform(path)
  const env = { LEARNCTL_URL: server.url, LEARNCTL_API_KEY: server.firstKey ?? '' }
  const lines = [
    'courses create --title Biology --external-id bio',
    'courses list --all --status draft --sort title --columns title',
    'courses get ext:bio',
    'courses export --status draft',
    'courses delete ext:bio --yes',
  ]
  try {
    for (const line of lines) {
      expect(await loadedBy(line.split(' '), env), line).toMatchObject({ hasForeign: false })
    }
  } finally {
    await server.stop()
    remove()
  }
})
