import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test as base, expect } from 'vitest'
import { makeDirectory } from '../../src/config/files.ts'
import { freshDirectory } from '../helpers/academy.ts'

const test = base.extend('path', ({ task: _ }, { onCleanup }) => {
  const { path, remove } = freshDirectory()
  onCleanup(remove)
  return path
})

test('a directory and all above it that are missing are made for their owner alone', ({ path }) => {
  mkdirSync(join(path, 'there'), { mode: 0o755 })
  makeDirectory(join(path, 'there/one/two'), null)
  const modes = ['there', 'there/one', 'there/one/two'].map((name) => statSync(join(path, name)).mode & 0o777)
  expect(modes).toEqual([0o755, 0o700, 0o700])
  makeDirectory(join(path, 'there/one/two'), null)
})

test('what cannot be made is named, with the variable that moves it', ({ path }) => {
  writeFileSync(join(path, 'file'), '')
  for (const below of ['file', 'file/one', 'file/one/two']) {
    expect(() => makeDirectory(join(path, below), 'XDG_STATE_HOME')).toThrow(
      expect.objectContaining({
        code: 'config_unwritable',
        message: expect.stringMatching(/^Cannot write .*\/file\S*: ENOTDIR$/),
        hint: 'Set XDG_STATE_HOME to a writable directory',
      }),
    )
  }
})

// Node's recursive mkdir would loop forever here.
test.skipIf(!existsSync('/proc/self'))('below /proc it fails instead of trying for ever', () => {
  expect(() => makeDirectory('/proc/learnctl/config', null)).toThrow('Cannot write /proc/learnctl: ENOENT')
})
