import { access, constants, mkdir, readdir, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { csvText, isGuarded } from '../../codec/csv.ts'
import { systemCode } from '../../config/errors.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'
import { pluralise } from '../terminal/format-text.ts'
import { openTarget, partPath } from '../terminal/target-file.ts'
import type { CourseContents, GroupContents, Person } from './academy-reader.ts'
import type { RosterPart } from './roster.ts'

export type Counts = Partial<Record<RosterPart, number>>

/** Terms and courses are written when it is made. */
export interface FormatWriter {
  readonly addCourse: ((contents: CourseContents) => void) | null
  readonly addGroups?: (groups: readonly GroupContents[]) => void
  /** Returns what adds a person, after all courses and groups; null if the parts have nothing of people. */
  readonly openPeople: (() => (person: Person) => void) | null
  /** Notes are about data that the format does not hold; `counts` if fewer records were written than added. */
  finish(): { readonly notes: readonly string[]; readonly counts?: Counts }
}

interface PackageOptions {
  readonly cwd: string
  readonly target: string
  readonly force: boolean
  /** Names of files: a folder with other files is not replaced. */
  readonly known: ReadonlySet<string>
}

/**
 * Starts a package. The same rows give the same bytes, zipped as well. Throws a UsageError if the target exists without
 * `force`, or is a folder with other files.
 */
export async function createPackage(options: PackageOptions): Promise<Package> {
  const place = await placeOf(options)
  await attempt(options.target, () => access(dirname(place), constants.W_OK))
  return new Package(options)
}

/** Tables in memory, which appear at their target completely or not at all. */
export class Package {
  readonly tables: Pick<Table<unknown>, 'name' | 'rows' | 'formulas' | 'bytes'>[] = []
  readonly #options: PackageOptions

  constructor(options: PackageOptions) {
    this.#options = options
  }

  table<Item>(name: string, columns: Columns<Item>): Table<Item> {
    const table = new Table(name, columns)
    this.tables.push(table)
    return table
  }

  /** Returns the number of rows. */
  write<Item>(name: string, columns: Columns<Item>, items: readonly Item[]): number {
    const table = this.table(name, columns)
    for (const item of items) table.add(item)
    return items.length
  }

  finish(): Promise<void> {
    const { target } = this.#options
    return attempt(target, () => (isZip(target) ? this.#zip() : this.#move()))
  }

  async #move(): Promise<void> {
    // Another program may have put files there since.
    const place = await placeOf(this.#options)
    const folder = await partPath(place)
    try {
      await mkdir(folder, { mode: 0o700 })
      for (const table of this.tables) {
        await writeFile(join(folder, table.name), table.bytes(), { mode: 0o600, flush: true })
      }
      const before = (await stat(place).catch(() => null)) && (await partPath(place))
      if (before) await rename(place, before)
      await rename(folder, place)
      if (before) await rm(before, { recursive: true, force: true })
    } catch (error) {
      await rm(folder, { recursive: true, force: true })
      throw error
    }
  }

  async #zip(): Promise<void> {
    const { ZipFile } = await import('yazl')
    const { cwd, target, force } = this.#options
    const zip = new ZipFile()
    // The DOS time has no zone: the same local time gives the same bytes everywhere.
    const same = { mtime: new Date(1980, 0, 1), mode: 0o100600, forceDosTimestamp: true } as const
    for (const table of this.tables) {
      zip.addReadStreamLazy(table.name, same, (found) => found(null, Readable.from([table.bytes()])))
    }
    zip.end()
    const file = await openTarget(cwd, target, { force, mode: 0o600 })
    try {
      zip.on('error', (error) => zip.outputStream.emit('error', error))
      for await (const piece of zip.outputStream) await file.write(Buffer.from(piece))
      await file.finish()
    } catch (error) {
      await file.discard()
      throw error
    }
  }
}

export type Columns<Item> = Readonly<Record<string, (item: Item) => string>>

const pieceCharacters = 256 * 1024

/** RFC 4180: commas, CRLF, UTF-8 without a byte order mark. */
export class Table<Item> {
  readonly name: string
  /** Number of rows without the header. */
  rows = 0
  formulas = 0
  readonly #texts: readonly ((item: Item) => string)[]
  readonly #pieces: Buffer[] = []
  #text: string

  constructor(name: string, columns: Columns<Item>) {
    this.name = name
    this.#texts = Object.values(columns)
    this.#text = `${Object.keys(columns).join(',')}\r\n`
  }

  add(item: Item): void {
    const cells = this.#texts.map((textOf) => textOf(item).trim())
    // A single sign, such as the one in place of a name, is no formula.
    this.formulas += cells.filter((cell) => cell.length > 1 && isGuarded(cell)).length
    this.rows += 1
    // Other systems would keep the apostrophe that guards against formulas.
    this.#text += `${cells.map((cell) => csvText(cell, true)).join(',')}\r\n`
    if (this.#text.length < pieceCharacters) return
    this.#pieces.push(Buffer.from(this.#text))
    this.#text = ''
  }

  bytes(): Buffer {
    return Buffer.concat([...this.#pieces, Buffer.from(this.#text)])
  }
}

function isZip(target: string): boolean {
  return /\.zip$/i.test(target)
}

async function placeOf({ cwd, target, force, known }: PackageOptions): Promise<string> {
  const named = resolve(cwd, target)
  const found = await stat(named).catch(() => null)
  if (isZip(target)) {
    if (found?.isDirectory()) throw new UsageError(`${target} is a directory`)
    if (found && !force) throw existing(target)
    return named
  }
  if (!found) return named
  if (!found.isDirectory()) {
    throw new UsageError(`${target} is not a directory`, {
      hint: 'Name a folder, or a file that ends in .zip',
    })
  }
  const path = await realpath(named)
  if (!relative(path, await realpath(cwd)).startsWith('..')) {
    throw new UsageError(`${target} is the working directory or contains it`, {
      hint: `Name a folder of its own: ${join(target, 'roster')}`,
    })
  }
  const names = await readdir(path)
  const others = names.filter((name) => !known.has(name))
  if (others.length > 0) {
    throw new UsageError(`${target} has other files: ${others.slice(0, 3).join(', ')}`, {
      hint: 'Name a folder of its own',
    })
  }
  if (names.length > 0 && !force) throw existing(target)
  return path
}

function existing(target: string): UsageError {
  return new UsageError(`${target} already exists`, { hint: 'Use --force to replace it' })
}

async function attempt<Result>(target: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof CommandError) throw error
    const code = systemCode(error)
    if (code === 'ENOENT') throw new UsageError(`The folder of ${target} does not exist`, { cause: error })
    const full = code === 'ENOSPC' || code === 'EDQUOT'
    throw new CommandError(
      full ? 'disk_full' : 'unwritable',
      'failure',
      `Cannot write ${target}: ${full ? 'the disk is full' : (code ?? error)}`,
      { cause: error, why: ['No part of it was kept'] },
    )
  }
}

export type Cells = Readonly<Record<string, string>>

/** Returns the columns of rows that name their cells: other columns stay empty, and cells without a column are left out. */
export function cellColumns(header: readonly string[]): Columns<Cells> {
  return Object.fromEntries(header.map((column) => [column, (cells: Cells) => cells[column] ?? '']))
}

/** Notes on records that a format cannot hold: `{user}` becomes `1 user` or `2 users`, `{it|them}` one of these words. */
export function createLosses<Name extends string>(texts: Readonly<Record<Name, string>>) {
  const counts = new Map<string, number>()
  return {
    add: (name: Name, count = 1) => void counts.set(name, (counts.get(name) ?? 0) + count),
    notes: () =>
      Object.entries<string>(texts).flatMap(([name, text]) => {
        const count = counts.get(name) ?? 0
        return count === 0 ? [] : [countedText(text, count)]
      }),
  }
}

function countedText(text: string, count: number): string {
  return text.replace(/\{(.+?)\}/g, (_, noun: string) => {
    const [one = '', several] = noun.split('|')
    if (several === undefined) return pluralise(count, noun)
    return count === 1 ? one : several
  })
}
