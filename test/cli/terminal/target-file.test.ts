import { lstatSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test as base, expect } from 'vitest'
import { openTarget } from '../../../src/cli/terminal/target-file.ts'
import { freshDirectory } from '../../helpers/academy.ts'

const test = base.extend('directory', async ({ task: _ }, { onCleanup }) => {
  const { path, remove } = freshDirectory()
  onCleanup(remove)
  return path
})

const text = (words: string) => Buffer.from(words)

test('a file is in its place only once it is finished', async ({ directory }) => {
  const target = await openTarget(directory, 'out.csv')
  await target.write(text('half'))
  expect(readdirSync(directory)).toEqual([expect.stringMatching(/^out\.csv\.\w+\.part$/)])
  await target.write(text(' and half'))
  await target.finish()
  expect(readdirSync(directory)).toEqual(['out.csv'])
  expect(readFileSync(join(directory, 'out.csv'), 'utf8')).toBe('half and half')
})

test('what is discarded leaves nothing, and what was there as it was', async ({ directory }) => {
  writeFileSync(join(directory, 'out.csv'), 'old')
  const target = await openTarget(directory, 'out.csv', { force: true })
  await target.write(text('new'))
  await target.discard()
  expect(readdirSync(directory)).toEqual(['out.csv'])
  expect(readFileSync(join(directory, 'out.csv'), 'utf8')).toBe('old')
})

test('a file that is replaced keeps its permissions', async ({ directory }) => {
  const path = join(directory, 'out.csv')
  writeFileSync(path, 'old', { mode: 0o600 })
  await (await openTarget(directory, 'out.csv', { force: true })).finish()
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

test('a file can be made for its owner alone, whatever was there before', async ({ directory }) => {
  const path = join(directory, 'key.txt')
  writeFileSync(path, 'old', { mode: 0o644 })
  await (await openTarget(directory, 'key.txt', { force: true, mode: 0o600 })).finish()
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

test('of a link, what it leads to is replaced', async ({ directory }) => {
  writeFileSync(join(directory, 'real.csv'), 'old')
  symlinkSync('real.csv', join(directory, 'link.csv'))
  const target = await openTarget(directory, 'link.csv', { force: true })
  await target.write(text('new'))
  await target.finish()
  expect(lstatSync(join(directory, 'link.csv')).isSymbolicLink()).toBe(true)
  expect(readFileSync(join(directory, 'real.csv'), 'utf8')).toBe('new')
})

test('a device is written as it is, and needs no force', async () => {
  const target = await openTarget('/', '/dev/null')
  await target.write(text('gone'))
  await target.finish()
  expect(statSync('/dev/null').isCharacterDevice()).toBe(true)
})
