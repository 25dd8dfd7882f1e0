import {
  appendFileSync,
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { test as base, describe, expect } from 'vitest'
import { type Packed, unpack } from '../../packaging/unpack.ts'
import { freshDirectory } from '../helpers/fresh-directory.ts'

const texts = { 'main.cjs': 'main', 'cli/chunks/one.cjs': 'chunk', 'empty.csv': '' }
const bytes = brotliCompressSync(Object.values(texts).join(''))
const packed = (onUnpack = () => {}): Packed => ({
  id: '5f',
  files: Object.entries(texts).map(([path, text]) => [path, text.length]),
  archive: () => {
    onUnpack()
    return bytes
  },
})
const refused = (): never => {
  throw new Error('unpacked again')
}

/** A directory for caches, and one for temporary files; neither exists. */
const test = base.extend('places', async ({ task: _ }, { onCleanup }) => {
  const { path, remove } = freshDirectory()
  onCleanup(remove)
  return [join(path, 'cache/learnctl'), join(path, 'temporary')] as const
})

function textsIn(folder: string) {
  return Object.fromEntries(
    Object.keys(texts).map((path) => [path, readFileSync(join(folder, path), 'utf8')]),
  )
}

test('unpacks once, for the user alone', ({ places }) => {
  const folder = unpack(packed(), places)
  expect(folder).toBe(join(places[0], '5f'))
  expect(textsIn(folder)).toEqual(texts)
  const paths = [
    places[0],
    folder,
    join(folder, 'cli'),
    ...Object.keys(texts).map((path) => join(folder, path)),
  ]
  for (const path of paths) expect(lstatSync(path).mode & 0o077, path).toBe(0)
  expect(unpack(packed(refused), places)).toBe(folder)
  expect(readdirSync(places[0])).toEqual(['5f'])
  expect(existsSync(places[1])).toBe(false)
})

describe('unpacks again', () => {
  test.for<[string, (folder: string) => void]>([
    ['a file is changed', (folder) => writeFileSync(join(folder, 'main.cjs'), 'evil')],
    ['a file is longer', (folder) => appendFileSync(join(folder, 'empty.csv'), 'x')],
    ['a file is missing', (folder) => rmSync(join(folder, 'cli/chunks/one.cjs'))],
    ['others can write to a file', (folder) => chmodSync(join(folder, 'main.cjs'), 0o666)],
    ['others can write to the folder', (folder) => chmodSync(folder, 0o777)],
    [
      'a file is a link',
      (folder) => {
        renameSync(join(folder, 'main.cjs'), join(dirname(folder), 'main.cjs'))
        symlinkSync('../main.cjs', join(folder, 'main.cjs'))
      },
    ],
    [
      'the folder is a link',
      (folder) => {
        renameSync(folder, `${folder}-elsewhere`)
        symlinkSync(`${folder}-elsewhere`, folder)
      },
    ],
    [
      'a file is in its place',
      (folder) => {
        rmSync(folder, { recursive: true })
        writeFileSync(folder, '')
      },
    ],
  ])('if %s', ([, change], { places }) => {
    const folder = unpack(packed(), places)
    change(folder)
    expect(unpack(packed(), places)).toBe(folder)
    expect(textsIn(folder)).toEqual(texts)
    expect(lstatSync(folder).isDirectory()).toBe(true)
    expect(unpack(packed(refused), places)).toBe(folder)
    expect(readdirSync(places[0]).filter((name) => name.startsWith('unfinished-'))).toEqual([])
  })
})

describe('two processes at once', () => {
  test('use the files of the first that is done', ({ places }) => {
    let first = ''
    const second = unpack(
      packed(() => {
        first = unpack(packed(), places)
      }),
      places,
    )
    expect(second).toBe(first)
    expect(textsIn(first)).toEqual(texts)
    expect(readdirSync(places[0])).toEqual(['5f'])
  })

  test('leave what the other has not finished, unless that was an hour ago', ({ places }) => {
    const [running, killed] = ['unfinished-1', 'unfinished-2'].map((name) => join(places[0], name))
    for (const path of [running, killed]) mkdirSync(path ?? '', { recursive: true, mode: 0o700 })
    chmodSync(places[0], 0o700)
    const longAgo = new Date(Date.now() - 2 * 60 * 60 * 1000)
    utimesSync(killed ?? '', longAgo, longAgo)
    unpack(packed(), places)
    expect(readdirSync(places[0]).sort()).toEqual(['5f', 'unfinished-1'])
  })
})

describe('takes the directory for temporary files', () => {
  test('if others can write to the cache', ({ places }) => {
    mkdirSync(places[0], { recursive: true })
    chmodSync(places[0], 0o777)
    mkdirSync(join(places[0], '5f'))
    expect(unpack(packed(), places)).toBe(join(places[1], '5f'))
  })

  test('if the cache cannot be made', ({ places }) => {
    writeFileSync(dirname(places[0]), 'a file')
    expect(unpack(packed(), places)).toBe(join(places[1], '5f'))
  })

  test('and says why neither can be used', ({ places }) => {
    for (const place of places) {
      mkdirSync(dirname(place), { recursive: true })
      writeFileSync(place, 'a file')
    }
    expect(() => unpack(packed(), places)).toThrow(`${places[0]}: ENOTDIR; ${places[1]}: ENOTDIR`)
  })
})
