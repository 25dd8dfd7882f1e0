import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { test as base, expect } from 'vitest'
import { openAcademy } from '../../src/server/academy/local-academy.ts'
import { freshDirectory } from '../helpers/academy.ts'
import { listen } from '../helpers/listen.ts'
import { servePlatform } from '../helpers/platform-server.ts'
import { bin, run } from '../helpers/process.ts'

/** Texts that are in one part of the program alone. */
const texts = {
  zod: '$ZodType',
  parser: 'commander.unknownOption',
  platforms: 'The platform file has no word for',
}

/** Module that writes the loaded files of ours and modules of Node to a file when a process ends. */
const recorder = `process.on('exit', () => require('node:fs').writeFileSync(process.env.LOADED,
  JSON.stringify({ files: Object.keys(require.cache), modules: process.moduleLoadList })))`

/** Returns the files, the parts and the modules of Node that a run of the built program loads on its own academy. */
const test = base.extend('loadedBy', async ({ task: _ }, { onCleanup }) => {
  const { path, remove } = freshDirectory()
  onCleanup(remove)
  const LEARNCTL_DATABASE = join(path, 'academy.db')
  await (await openAcademy({ path: LEARNCTL_DATABASE })).close()
  const [LOADED, preload] = [join(path, 'loaded.json'), join(path, 'recorder.cjs')]
  writeFileSync(preload, recorder)
  return async (words: readonly string[], env: Readonly<Record<string, string>> = { LEARNCTL_DATABASE }) => {
    const { code, stderr } = await run(process.execPath, ['--require', preload, bin, ...words], {
      cwd: path,
      env: { HOME: path, LOADED, ...env },
    })
    expect(code, stderr).toBe(0)
    const loaded: Record<'files' | 'modules', string[]> = JSON.parse(readFileSync(LOADED, 'utf8'))
    const files = loaded.files.filter((file) => file !== preload).map((file) => readFileSync(file, 'utf8'))
    const parts = Object.entries(texts).filter(([, text]) => files.some((file) => file.includes(text)))
    return {
      files: files.length,
      parts: parts.map(([name]) => name),
      modules: loaded.modules.map((name) => name.replace('NativeModule ', '')),
    }
  }
})

test.for(['courses list', 'users list', 'progress get email:admin@academy.local'])(
  '%s on a local academy loads few files, and no schema',
  async (words, { loadedBy }) => {
    const { files, parts, modules } = await loadedBy(words.split(' '))
    expect(files).toBeLessThanOrEqual(30)
    expect(parts).not.toContain('zod')
    expect(modules).toContain('sqlite')
  },
)

test.for(['', 'courses li', 'courses create --difficulty '])(
  'completing «%s» loads few files, no schema and no database',
  async (line, { loadedBy }) => {
    const { files, parts, modules } = await loadedBy(['__complete', 'fish', `learnctl ${line}`])
    expect(files).toBeLessThanOrEqual(15)
    expect(parts).not.toContain('zod')
    expect(modules).not.toContain('sqlite')
  },
)

test('help into a pipe loads neither streams nor cryptography nor the parser', async ({ loadedBy }) => {
  const { parts, modules } = await loadedBy(['courses', 'list', '--help'])
  expect(parts).toEqual([])
  for (const idle of ['stream', 'net', 'crypto', 'child_process', 'fs/promises', 'http']) {
    expect(modules).not.toContain(idle)
  }
})

test('a list over the wire loads Node’s own HTTP client, and no schema', async ({ loadedBy }) => {
  const server = createServer((_, response) =>
    response.setHeader('content-type', 'application/json').end('{"data": [], "nextCursor": null}'),
  )
  const { url, close } = await listen(server)
  const { files, parts, modules } = await loadedBy(['courses', 'list'], {
    ...{ LEARNCTL_URL: url, LEARNCTL_API_KEY: 'lpk_0' },
  }).finally(close)
  expect(files).toBeGreaterThan(3)
  expect(parts).toEqual(['parser', 'platforms'])
  expect(modules).toContain('http')
  for (const idle of ['internal/deps/undici/undici', 'http2', 'tls', 'worker_threads', 'zlib', 'sqlite']) {
    expect(modules).not.toContain(idle)
  }
})

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
      expect((await loadedBy(line.split(' '), env)).parts, line).not.toContain('platforms')
    }
  } finally {
    await server.stop()
    remove()
  }
})
