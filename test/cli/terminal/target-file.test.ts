import { spawnSync } from 'node:child_process'
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { test as base, expect } from 'vitest'
import { openTarget, partPath } from '../../../src/cli/terminal/target-file.ts'
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

test('a discarded file leaves nothing, and an existing one unchanged', async ({ directory }) => {
  writeFileSync(join(directory, 'out.csv'), 'old')
  const target = await openTarget(directory, 'out.csv', { force: true })
  await target.write(text('new'))
  await target.discard()
  expect(readdirSync(directory)).toEqual(['out.csv'])
  expect(readFileSync(join(directory, 'out.csv'), 'utf8')).toBe('old')
})

test('a file that is replaced keeps its permissions', async ({ directory }) => {
  const path = join(directory, 'out.csv')
  writeFileSync(path, 'old', { mode: 0o640 })
  await (await openTarget(directory, 'out.csv', { force: true })).finish()
  expect(statSync(path).mode & 0o777).toBe(0o640)
})

test('a new file is for its owner alone', async ({ directory }) => {
  await (await openTarget(directory, 'out.csv')).finish()
  expect(statSync(join(directory, 'out.csv')).mode & 0o777).toBe(0o600)
})

test('files of killed processes in the directory are removed, and nothing else', async ({ directory }) => {
  const dead = spawnSync(process.execPath, ['--version']).pid
  const left = [
    await partPath(join(directory, 'out.csv'), dead),
    await partPath(join(directory, 'backup-of-yesterday.db'), dead),
    `${await partPath(join(directory, 'backup-of-yesterday.db'), dead)}-journal`,
  ]
  const others = [
    await partPath(join(directory, 'out.csv'), process.ppid),
    left[0]?.replace(/csv\.\w{12}_/, 'csv.0123456789ab_') ?? '',
    join(directory, 'out.csv.part'),
    join(directory, 'out.csv.0123456789ab.part'),
  ]
  for (const path of [...left, ...others]) writeFileSync(path, 'half')
  const folder = await partPath(join(directory, 'out.csv'), dead)
  mkdirSync(folder)
  await (await openTarget(directory, 'out.csv')).finish()
  expect(readdirSync(directory).sort()).toEqual(
    ['out.csv', ...[...others, folder].map((path) => basename(path))].sort(),
  )
})

test('a file that has appeared meanwhile is kept, unless files may be replaced', async ({ directory }) => {
  const target = await openTarget(directory, 'out.csv')
  await target.write(text('older'))
  writeFileSync(join(directory, 'out.csv'), 'newer')
  await expect(target.finish()).rejects.toMatchObject({
    message: 'out.csv already exists',
    exit: 'usage',
    why: ['It was created while this command was running'],
  })
  await target.discard()
  expect(readdirSync(directory)).toEqual(['out.csv'])
  expect(readFileSync(join(directory, 'out.csv'), 'utf8')).toBe('newer')
  const replacing = await openTarget(directory, 'out.csv', { force: true })
  await replacing.write(text('newest'))
  await replacing.finish()
  expect(readFileSync(join(directory, 'out.csv'), 'utf8')).toBe('newest')
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
