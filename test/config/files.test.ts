import { execFileSync } from 'node:child_process'
import { mkdirSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test as base, describe, expect } from 'vitest'
import { ConfigError } from '../../src/config/errors.ts'
import { makeDirectory, readRegularFile } from '../../src/config/files.ts'
import { createProfileStore } from '../../src/config/profiles.ts'
import { readProjectFile } from '../../src/config/resolve-settings.ts'
import { freshDirectory } from '../helpers/academy.ts'

const test = base.extend('directory', ({ task: _ }, { onCleanup }) => {
  const { path, remove } = freshDirectory()
  onCleanup(remove)
  return path
})

/** Special files in place of a regular one, with their errors; each could block or exhaust the reader. */
const odd: readonly [what: string, put: (path: string) => void, reason: string][] = [
  ['a link to a device without an end', (path) => symlinkSync('/dev/zero', path), 'it is not a regular file'],
  ['a pipe without a writer', (path) => execFileSync('mkfifo', [path]), 'it is not a regular file'],
  ['a directory', (path) => mkdirSync(path), 'it is a directory'],
  ['a gibibyte', (path) => hole(path, 1024 ** 3), 'it is larger than'],
  ['text in Latin-1', (path) => writeFileSync(path, Buffer.from([0x7b, 0xe9])), 'byte 0xE9 at offset 1'],
]

describe.for(odd)('%s in place of', ([, put, reason]) => {
  test('the project file is refused', ({ directory }) => {
    put(join(directory, 'learnctl.json'))
    const read = () => readProjectFile(directory)
    expect(read).toThrow(ConfigError)
    expect(read).toThrow(`Cannot read ${join(directory, 'learnctl.json')}: ${reason}`)
  })

  test('the file of profiles is refused', ({ directory }) => {
    put(join(directory, 'profiles.json'))
    const { read } = createProfileStore(directory, { now: Date.now, sleep: async () => {} })
    expect(read).toThrow(ConfigError)
    expect(read).toThrow(reason)
  })
})

test('a file is read up to its limit, and not a byte further', ({ directory }) => {
  const path = join(directory, 'file')
  writeFileSync(path, '\uFEFFé12')
  expect(readRegularFile(path, 7)).toBe('é12')
  expect(() => readRegularFile(path, 6)).toThrow('it is larger than')
})

test('a file that reports a size of 0 is read all the same', () => {
  expect(readRegularFile('/proc/self/status', 64 * 1024)).toMatch(/^Name:/)
})

function hole(path: string, size: number): void {
  writeFileSync(path, '')
  truncateSync(path, size)
}

test('a directory and all above it that are missing are made for their owner alone', ({ directory }) => {
  mkdirSync(join(directory, 'there'), { mode: 0o755 })
  makeDirectory(join(directory, 'there/one/two'), null)
  const modes = ['there', 'there/one', 'there/one/two'].map(
    (name) => statSync(join(directory, name)).mode & 0o777,
  )
  expect(modes).toEqual([0o755, 0o700, 0o700])
  makeDirectory(join(directory, 'there/one/two'), null)
})

test('a directory that cannot be made is named, with the variable that moves it', ({ directory }) => {
  writeFileSync(join(directory, 'file'), '')
  for (const below of ['file', 'file/one', 'file/one/two']) {
    expect(() => makeDirectory(join(directory, below), 'XDG_STATE_HOME')).toThrow(
      expect.objectContaining({
        code: 'config_unwritable',
        message: expect.stringMatching(/^Cannot write .*\/file\S*: ENOTDIR$/),
        hint: 'Set XDG_STATE_HOME to a writable directory',
      }),
    )
  }
})
