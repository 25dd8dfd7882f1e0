import { readdir, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { systemCode } from '../../config/errors.ts'
import { UsageError } from '../terminal/errors.ts'
import type { Io } from '../terminal/io.ts'

/** Default files and folder of an academy. */
const usual = ['academy.yaml', 'academy.yml', 'academy.json', 'academy']
const maximumFiles = 1000
const maximumDepth = 8

/**
 * Returns the files of an academy: the given ones, and for a folder all YAML and JSON files in and below it, sorted
 * by name. The default is `academy.yaml`, `academy.json` or the folder `academy`. Throws a UsageError if there is
 * none.
 */
export async function findFiles({ cwd }: Io, given: readonly string[]): Promise<string[]> {
  if (given.length > 0) return (await Promise.all(given.map((path) => filesAt(cwd, path)))).flat()
  for (const path of usual) {
    const found = await stat(resolve(cwd, path)).catch(() => null)
    if (found) return filesAt(cwd, path)
  }
  throw new UsageError('No academy file found', {
    why: [`Looked for ${usual.join(', ')} in ${cwd}`],
    hint: 'Name the file or folder, or write one from an academy: learnctl dump --file academy.yaml',
  })
}

async function filesAt(cwd: string, path: string): Promise<string[]> {
  if (path === '-') return [path]
  const found = await stat(resolve(cwd, path)).catch((cause: unknown) => {
    const reason = systemCode(cause) === 'ENOENT' ? 'file not found' : (systemCode(cause) ?? String(cause))
    throw new UsageError(`Cannot read ${path}: ${reason}`, { cause })
  })
  if (!found.isDirectory()) return [path]
  const files = await filesIn(cwd, path, maximumDepth)
  if (files.length === 0) throw new UsageError(`${path} has no YAML or JSON files`)
  if (files.length > maximumFiles) throw new UsageError(`${path} has more than ${maximumFiles} files`)
  return files
}

async function filesIn(cwd: string, folder: string, depth: number): Promise<string[]> {
  const entries = await readdir(resolve(cwd, folder), { withFileTypes: true })
  const files: string[] = []
  for (const entry of entries.sort((one, other) => (one.name < other.name ? -1 : 1))) {
    if (entry.name.startsWith('.')) continue
    const path = join(folder, entry.name)
    if (entry.isDirectory() && depth > 0) files.push(...(await filesIn(cwd, path, depth - 1)))
    else if (entry.isFile() && /\.(ya?ml|json)$/i.test(entry.name)) files.push(path)
  }
  return files
}
