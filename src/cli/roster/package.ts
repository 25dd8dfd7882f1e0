import { open, readdir, realpath, stat } from 'node:fs/promises'
import { basename, join, resolve, sep } from 'node:path'
import { systemCode } from '../../config/errors.ts'
import { bytesOf, zipSignature } from '../records/sources/file.ts'
import type { PackedFile } from '../records/sources/zip.ts'
import { UsageError } from '../terminal/errors.ts'
import type { Io } from '../terminal/io.ts'

export interface Package {
  readonly files: readonly PackedFile[]
  /** Files that are no CSV and are left out. */
  readonly others: readonly string[]
}

const maxFiles = 1000
const maxDepth = 4

/** Opens a folder, a zip file or a single CSV file. Throws a UsageError if there is none, or no CSV file in it. */
export async function openPackage(io: Pick<Io, 'cwd' | 'signal'>, given: string): Promise<Package> {
  const path = resolve(io.cwd, given)
  const found = await stat(path).catch((cause: unknown) => {
    const reason = systemCode(cause) === 'ENOENT' ? 'file not found' : (systemCode(cause) ?? String(cause))
    throw new UsageError(`Cannot read ${given}: ${reason}`, { cause })
  })
  if (!found.isDirectory() && !(await isZip(path))) {
    return { files: [{ name: given, bytes: () => bytesOf(io, path, given) }], others: [] }
  }
  const { files, others } = found.isDirectory()
    ? await filesInFolder(io, path)
    : await (await import('../records/sources/zip.ts')).filesInZip(path, given, isTable)
  if (files.length === 0) {
    throw new UsageError(`${given} has no CSV files`, {
      code: 'empty_roster',
      ...(others.length > 0 && { why: [`It has ${others.slice(0, 10).join(', ')}`] }),
    })
  }
  return { files: withoutFolder(files), others }
}

/** True for a CSV file that is neither hidden nor an addition of macOS. */
function isTable(name: string): boolean {
  const steps = name.split('/')
  return /\.(csv|txt|tsv)$/i.test(name) && !steps.some((step) => step.startsWith('.') || step === '__MACOSX')
}

async function isZip(path: string): Promise<boolean> {
  // Spreadsheets are zip files, and are refused as spreadsheets.
  if (/\.(xlsx|xlsm|ods|numbers)$/i.test(path)) return false
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0)
    return buffer.toString('latin1', 0, bytesRead) === zipSignature || /\.zip$/i.test(path)
  } finally {
    await file.close()
  }
}

async function filesInFolder(io: Pick<Io, 'signal'>, folder: string): Promise<Package> {
  const names = await namesIn(folder, '', maxDepth)
  if (names.length > maxFiles) throw new UsageError(`${folder} has more than ${maxFiles} files`)
  const { table = [], other = [] } = Object.groupBy(names, (name) => (isTable(name) ? 'table' : 'other'))
  await refuseLinksOut(folder, table)
  const files = table.map((name) => ({ name, bytes: () => bytesOf(io, join(folder, name), name) }))
  return { files, others: other }
}

/** Throws a UsageError for a link to a file outside of the folder: the folder may be from somebody else, and errors show cells. */
async function refuseLinksOut(folder: string, names: readonly string[]): Promise<void> {
  const root = await realpath(folder)
  for (const name of names) {
    // A link to nothing is refused when it is read.
    const target = await realpath(join(folder, name)).catch(() => null)
    if (target === null || target.startsWith(root + sep)) continue
    throw new UsageError(`${name} is a link to a file outside of ${folder}`, {
      code: 'link_out',
      hint: 'Put the file itself into the folder',
    })
  }
}

async function namesIn(folder: string, below: string, depth: number): Promise<string[]> {
  const names: string[] = []
  const entries = await readdir(join(folder, below), { withFileTypes: true })
  for (const entry of entries.sort((one, other) => (one.name < other.name ? -1 : 1))) {
    const name = below === '' ? entry.name : `${below}/${entry.name}`
    if (entry.isDirectory() && depth > 0 && !entry.name.startsWith('.')) {
      names.push(...(await namesIn(folder, name, depth - 1)))
    } else if (entry.isFile() || entry.isSymbolicLink()) names.push(name)
    if (names.length > maxFiles) return names
  }
  return names
}

/** Returns the files with names relative to the folder that all of them are in. */
function withoutFolder(files: readonly PackedFile[]): readonly PackedFile[] {
  const folders = new Set(files.map(({ name }) => name.slice(0, name.length - basename(name).length)))
  const [folder = ''] = folders
  return folders.size > 1 ? files : files.map((file) => ({ ...file, name: file.name.slice(folder.length) }))
}
