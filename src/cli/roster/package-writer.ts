import { createReadStream } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, realpath, rename, rm, stat } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { csvText, isGuarded } from '../../codec/csv.ts'
import { systemCode } from '../../config/errors.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'
import { openTarget, partPath, removeDeadParts } from '../terminal/target-file.ts'
import type { RosterPart } from './roster.ts'

/** Characters of a table to collect before they are written. */
const bufferCharacters = 256 * 1024

export interface Table {
  readonly name: string
  /** Without the header. */
  readonly rows: number
  add(cells: readonly string[]): void | Promise<void>
}

/** A package that is being written: a folder of tables, which appears at its target completely or not at all. */
export interface PackageWriter {
  table(name: string, header: readonly string[]): Promise<Table>
  tables(): readonly Pick<Table, 'name' | 'rows'>[]
  /** Number of cells that a spreadsheet would take for a formula. */
  formulas(): number
  /** Moves the package to its target. */
  finish(): Promise<void>
  discard(): Promise<void>
}

/** Number of records by part, and notes about data that the format does not hold. */
export interface Written {
  readonly counts: Partial<Record<RosterPart, number>>
  readonly notes: readonly string[]
}

/** Target of a package: a zip file by its name, else a folder. */
interface PackageOptions {
  readonly cwd: string
  readonly target: string
  readonly force: boolean
  /** Names that files of packages may have: a folder with other files is not replaced. */
  readonly known: ReadonlySet<string>
}

/**
 * Starts a package. The same rows give the same bytes, zipped as well. Throws a UsageError if the target exists without
 * `force`, or is a folder with other files.
 */
export async function createPackage(options: PackageOptions): Promise<PackageWriter> {
  const place = await placeOf(options)
  await removeDeadParts(place)
  const folder = await partPath(place)
  await attempt(options.target, () => mkdir(folder, { mode: 0o700 }))
  return new FolderWriter(options, place, folder)
}

export function isZip(target: string): boolean {
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

class FolderWriter implements PackageWriter {
  readonly #options: PackageOptions
  /** Where the package will be. */
  readonly #place: string
  /** Where it is written. */
  readonly #folder: string
  readonly #tables: CsvTable[] = []

  constructor(options: PackageOptions, place: string, folder: string) {
    this.#options = options
    this.#place = place
    this.#folder = folder
  }

  async table(name: string, header: readonly string[]): Promise<Table> {
    const table = new CsvTable(name, await this.#create(name), header)
    this.#tables.push(table)
    return table
  }

  tables(): readonly Pick<Table, 'name' | 'rows'>[] {
    return this.#tables
  }

  formulas(): number {
    return this.#tables.reduce((sum, { formulas }) => sum + formulas, 0)
  }

  async finish(): Promise<void> {
    const { target } = this.#options
    await attempt(target, async () => {
      for (const table of this.#tables) await table.close()
      await (isZip(target) ? this.#zip() : this.#move())
    })
    if (isZip(target)) await rm(this.#folder, { recursive: true, force: true })
  }

  async discard(): Promise<void> {
    await Promise.all(this.#tables.map((table) => table.close().catch(() => {})))
    await rm(this.#folder, { recursive: true, force: true })
  }

  #create(name: string): Promise<FileHandle> {
    return attempt(this.#options.target, () => open(join(this.#folder, name), 'wx', 0o600))
  }

  async #move(): Promise<void> {
    // Another program may have put files there since.
    await placeOf(this.#options)
    const exists = (await stat(this.#place).catch(() => null)) !== null
    if (!exists) return rename(this.#folder, this.#place)
    const before = await partPath(this.#place)
    await rename(this.#place, before)
    await rename(this.#folder, this.#place)
    await rm(before, { recursive: true, force: true })
  }

  async #zip(): Promise<void> {
    const { ZipFile } = await import('yazl')
    const { cwd, target, force } = this.#options
    const zip = new ZipFile()
    // The DOS time has no zone: the same local time gives the same bytes everywhere.
    const same = { mtime: new Date(1980, 0, 1), mode: 0o100600, forceDosTimestamp: true } as const
    for (const { name } of this.#tables) {
      zip.addReadStreamLazy(name, same, (found) => found(null, createReadStream(join(this.#folder, name))))
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

/** A table of RFC 4180: commas, CRLF, UTF-8 without a byte order mark. */
class CsvTable implements Table {
  readonly name: string
  rows = 0
  formulas = 0
  readonly #file: FileHandle
  #text: string
  #isClosed = false

  constructor(name: string, file: FileHandle, header: readonly string[]) {
    this.name = name
    this.#file = file
    this.#text = `${header.join(',')}\r\n`
  }

  add(cells: readonly string[]): void | Promise<void> {
    let line = ''
    for (let index = 0; index < cells.length; index += 1) {
      const cell = (cells[index] ?? '').trim()
      // A single sign, such as the one in place of a name, is no formula.
      if (cell.length > 1 && isGuarded(cell)) this.formulas += 1
      // Other systems would keep the apostrophe that guards against formulas.
      line += index === 0 ? csvText(cell, true) : `,${csvText(cell, true)}`
    }
    this.rows += 1
    this.#text += `${line}\r\n`
    if (this.#text.length >= bufferCharacters) return this.#flush()
  }

  async #flush(): Promise<void> {
    const bytes = Buffer.from(this.#text)
    this.#text = ''
    if (bytes.length > 0) await this.#file.appendFile(bytes)
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    try {
      await this.#flush()
      await this.#file.datasync()
    } finally {
      await this.#file.close()
    }
  }
}
