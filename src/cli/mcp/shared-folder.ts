import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { systemCode } from '../../config/errors.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'

/** Maximum files and folders below a path, and bytes in all files. */
const maxFiles = 2_000
const maxBytes = 256 * 1024 * 1024

/** The one folder whose files an assistant may name. Symbolic links are resolved first. */
export class SharedFolder {
  readonly #root: string
  readonly #shown: string

  /** Throws a UsageError for a path that is not a folder. */
  constructor(cwd: string, path: string) {
    this.#shown = path
    try {
      this.#root = realpathSync(resolve(cwd, path))
    } catch (error) {
      throw new UsageError(`Cannot use the folder ${path}: ${systemCode(error) ?? 'not found'}`)
    }
    if (!statSync(this.#root).isDirectory()) throw new UsageError(`Cannot use ${path}: it is not a folder`)
  }

  /** Returns the absolute path of a file or folder in it. Throws a CommandError for any other. */
  find(path: string): string {
    let real: string
    try {
      real = realpathSync(resolve(this.#root, path))
    } catch (error) {
      // A path outside gets the same answer whether it exists or not.
      if (!this.#contains(resolve(this.#root, path))) throw this.#outside(path)
      const why = systemCode(error) === 'ENOENT' ? 'file not found' : String(systemCode(error))
      throw new UsageError(`Cannot read ${path}: ${why}`, { why: [`Paths are relative to ${this.#shown}`] })
    }
    if (!this.#contains(real)) throw this.#outside(path)
    return real
  }

  /** Returns a digest of the content of a file or of all files below a folder; with `beside`, of those beside a file. */
  digestOf(path: string, beside: boolean): string {
    const hash = createHash('sha256')
    const start = beside && statSync(path).isFile() ? dirname(path) : path
    let bytes = 0
    for (const file of filesIn(start)) {
      const isLink = lstatSync(file).isSymbolicLink()
      const real = isLink ? this.find(file) : file
      const found = statSync(real)
      if (found.isDirectory()) continue
      // Opening a pipe waits for its other end.
      if (!found.isFile())
        throw new UsageError(`Cannot read ${relative(this.#root, file)}: it is not a regular file`)
      bytes += found.size
      if (bytes > maxBytes) throw tooMuch(path)
      hash.update(`${file}\0${found.size}\0`).update(readFileSync(real))
    }
    return hash.digest('hex')
  }

  /** Throws a CommandError if an errors file beside an imported one is a link, by which rejected rows would be written elsewhere. */
  assertErrorsFiles(path: string): void {
    const folder = dirname(path)
    const found = readdirSync(folder).find((name) => {
      return /\.errors(-\d+)?\.(csv|tsv)$/i.test(name) && !lstatSync(join(folder, name)).isFile()
    })
    if (found !== undefined) throw this.#outside(found)
  }

  #contains(path: string): boolean {
    return path === this.#root || path.startsWith(this.#root.endsWith(sep) ? this.#root : this.#root + sep)
  }

  #outside(path: string): CommandError {
    return new CommandError('outside_folder', 'usage', `${path} is not in the folder ${this.#shown}`, {
      why: ['Only files in this folder can be named'],
    })
  }
}

/** Returns a file, or all files, links and folders below a folder. */
function filesIn(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path]
  const names = readdirSync(path, { recursive: true, encoding: 'utf8' }).sort()
  if (names.length > maxFiles) throw tooMuch(path)
  return names.map((name) => join(path, name))
}

function tooMuch(path: string): UsageError {
  return new UsageError(`${path} has more than ${maxFiles} files or ${maxBytes / 1024 / 1024} MiB`)
}
