import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ConfigError } from '../../src/config/errors.ts'
import { readRegularFile } from '../../src/config/files.ts'
import { createProfileStore } from '../../src/config/profile-store.ts'
import { readProjectFile } from '../../src/config/project-file.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'learnctl-test-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

/** Special files in place of a regular one, with their errors; each could block or exhaust the reader. */
const odd: readonly [what: string, put: (path: string) => void, reason: string][] = [
  ['a link to a device without an end', (path) => symlinkSync('/dev/zero', path), 'it is not a regular file'],
  ['a pipe without a writer', (path) => execFileSync('mkfifo', [path]), 'it is not a regular file'],
  ['a directory', (path) => mkdirSync(path), 'it is a directory'],
  ['a gibibyte', (path) => hole(path, 1024 ** 3), 'it is larger than'],
  ['text in Latin-1', (path) => writeFileSync(path, Buffer.from([0x7b, 0xe9])), 'byte 0xE9 at offset 1'],
]

describe.for(odd)('%s in place of', ([, put, reason]) => {
  test('the project file is refused', () => {
    put(join(directory, 'learnctl.json'))
    const read = () => readProjectFile(directory)
    expect(read).toThrow(ConfigError)
    expect(read).toThrow(`Cannot read ${join(directory, 'learnctl.json')}: ${reason}`)
  })

  test('the file of profiles is refused', () => {
    put(join(directory, 'profiles.json'))
    const { read } = createProfileStore(directory, { now: Date.now, sleep: async () => {} })
    expect(read).toThrow(ConfigError)
    expect(read).toThrow(reason)
  })
})

test('a file is read up to its limit, and not a byte further', () => {
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
