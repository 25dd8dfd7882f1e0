import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { systemCode } from '../../config/errors.ts'
import { type SettingName, settings } from '../../config/setting.ts'
import type { Host, Invocation } from '../command/command.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'
import {
  namedValues,
  type OfferedCommand,
  offeredFlagsOf,
  offeredSettings,
  refusalReason,
} from './offered-commands.ts'
import { hasPseudonym } from './private-text.ts'

/** Arguments and flags of commands that change data in which a pseudonym names a person or a record about one. */
const placesOfPeople: ReadonlySet<string> = new Set([
  ...['user', 'learner', 'enrollment', 'entry', 'change', 'message', 'delivery'],
  ...['email', 'username'],
])

export interface LineRules {
  readonly parseLine: Host['parseLine']
  readonly offered: ReadonlyMap<string, OfferedCommand>
  /** Folder whose files may be named; null for none. */
  readonly folder: SharedFolder | null
  readonly allowWrites: boolean
}

export interface CheckedLine {
  readonly offered: OfferedCommand
  readonly invocation: Invocation
  /** Undefined if the line makes several calls. */
  readonly operation: string | undefined
  /** With absolute paths. */
  readonly argv: readonly string[]
  readonly fileDigests: readonly string[]
  readonly isDryRun: boolean
}

/** Throws a UsageError for words that are no command line. */
export function assertWords(argv: unknown): asserts argv is string[] {
  const isList = Array.isArray(argv) && argv.length > 0
  if (!isList || !argv.every((word) => typeof word === 'string' && !word.includes('\0'))) {
    throw new UsageError('argv must be a list of texts', {
      hint: 'For example: ["courses", "list", "--limit", "5"]',
    })
  }
}

/** Checks the command, each flag and each file. Throws a CommandError; HelpShown for `--help`. */
export async function checkLine(argv: readonly string[], rules: LineRules): Promise<CheckedLine> {
  const parsed = await rules.parseLine(argv)
  const { invocation, offered } = check(parsed, rules)
  const { folder } = rules
  const operation = (await offered.command.calls?.operation())?.id
  const isDryRun = invocation.globals['dryRun'] === true
  const named = namedFiles(invocation, offered)
  if (named.length === 0) return { offered, invocation, operation, argv, fileDigests: [], isDryRun }
  if (!folder) {
    throw new CommandError('no_folder', 'usage', `Local files cannot be named: ${named[0]?.path}`, {
      hint: 'The user can share one folder: learnctl mcp --folder <path>',
    })
  }
  const found = new Map(named.map(({ text, path, prefix }) => [text, prefix + folder.find(path)] as const))
  // The words of the command may be names of files, too.
  const count = offered.path.split(' ').length
  const words = argv.map((word, index) => (index < count ? word : replaceValue(word, found)))
  // The words that will run are parsed again: they must name the checked files and no others.
  const second = check(await rules.parseLine(words), rules)
  const expected = [...found.values()].toSorted()
  const actual = namedFiles(second.invocation, offered).map(({ text }) => text)
  if ([...new Set(actual)].toSorted().join('\0') !== [...new Set(expected)].join('\0')) {
    throw new UsageError('The files of this command line are ambiguous', { hint: 'Write --flag=value' })
  }
  const beside = offered.offer.readsBeside === true
  const paths = new Set(namedFiles(second.invocation, offered).map(({ path }) => path))
  if (offered.command.flags?.some(({ name }) => name === 'errors')) {
    for (const path of paths) folder.assertErrorsFiles(path)
  }
  const fileDigests = [...paths].map((path) => `${path}\0${folder.digestOf(path, beside)}`)
  return { offered, invocation: second.invocation, operation, argv: words, fileDigests, isDryRun }
}

/**
 * Throws a CommandError for a pseudonym anywhere else in a command line that changes data: the id or address behind it would be
 * stored where results show it, such as in a title.
 */
export function assertPlacesOfPeople(invocation: Invocation, offered: OfferedCommand): void {
  if (offered.offer.access === 'read') return
  const isOfUser = invocation.name.startsWith('learnctl users ')
  const wrong = namedValues(invocation, offered).find(({ name, text }) => {
    return hasPseudonym(text) && !placesOfPeople.has(name) && !(isOfUser && name === 'external-id')
  })
  if (!wrong) return
  throw new CommandError('unusable_pseudonym', 'usage', `A pseudonym cannot be used in ${wrong.name} here`, {
    why: ['The id or address behind it would be stored where it is shown'],
  })
}

function check(
  invocation: Invocation,
  { offered: table, allowWrites }: LineRules,
): { invocation: Invocation; offered: OfferedCommand } {
  const path = invocation.name.replace(/^learnctl /, '')
  const offered = table.get(path)
  if (!offered) {
    throw new CommandError('not_offered_here', 'usage', `\`${path}\` cannot be run here`, {
      why: [refusalReason(path)],
      hint: 'Find commands with the tool search',
    })
  }
  if (offered.offer.access === 'write' && !allowWrites) {
    throw new CommandError(
      'read_only',
      'forbidden',
      `\`${path}\` changes data, and this server is read-only`,
      {
        hint: 'The user can allow changes: learnctl mcp --allow-writes',
      },
    )
  }
  const allowed = offeredFlagsOf(offered)
  const flag = Object.entries(invocation.flags).find(
    ([name, value]) => value !== undefined && !allowed.has(name),
  )
  const setting = Object.keys(invocation.globals).find((name) => !offeredSettings.has(name))
  const name = flag?.[0] ?? (setting === undefined ? undefined : settings[setting as SettingName].flag)
  if (name !== undefined) {
    throw new CommandError('flag_not_offered', 'usage', `--${name} of \`${path}\` cannot be used here`, {
      why: ['Flags for files, credentials and other platforms are left to the user'],
    })
  }
  const format = invocation.globals['output']
  if (format !== undefined && !['json', 'jsonl'].includes(String(format))) {
    throw new UsageError(`-o ${String(format)} cannot be used here`, {
      hint: 'Results are JSON; leave out -o',
    })
  }
  return { invocation, offered }
}

interface NamedFile {
  readonly text: string
  /** `@`, for a value that may be a file. */
  readonly prefix: string
  readonly path: string
}

/** Throws a UsageError for standard input, and for files that are left to a default. */
function namedFiles(invocation: Invocation, offered: OfferedCommand): NamedFile[] {
  const { arguments: given, flags } = invocation
  const isDefaulted = (offered.command.arguments ?? []).some(({ file, optional }, index) => {
    return file !== undefined && optional && given[index] === undefined && flags['plan'] === undefined
  })
  if (isDefaulted) {
    throw new UsageError('Name the files', { why: ['Files that are found by default are left to the user'] })
  }
  return namedValues(invocation, offered).flatMap(({ text, place }) =>
    fileIn(text, place?.file !== undefined),
  )
}

function fileIn(text: string, isFile: boolean): NamedFile[] {
  if (text === '-') {
    throw new UsageError('There is no standard input here', {
      hint: 'Pass values as flags; the user can share a folder with files: learnctl mcp --folder <path>',
    })
  }
  if (text.startsWith('@')) return [{ text, prefix: '@', path: text.slice(1) }]
  if (!isFile || text.startsWith('integration:')) return []
  if (text.startsWith('profile:')) {
    throw new UsageError(`${text} cannot be used here`, { why: ['The user chooses the platform'] })
  }
  return [{ text, prefix: '', path: text }]
}

function replaceValue(word: string, found: ReadonlyMap<string, string>): string {
  const whole = found.get(word)
  if (whole !== undefined) return whole
  const [, flag, value] = /^(--[\w-]+=)(.*)$/s.exec(word) ?? []
  const replaced = value === undefined ? undefined : found.get(value)
  return replaced === undefined ? word : `${flag}${replaced}`
}

const maxFiles = 2_000
const maxBytes = 256 * 1024 * 1024

/** The one folder whose files an assistant may name. Symbolic links are resolved first. */
export class SharedFolder {
  readonly #root: string
  readonly #shown: string

  constructor(cwd: string, path: string) {
    this.#shown = path
    try {
      this.#root = realpathSync(resolve(cwd, path))
    } catch (error) {
      throw new UsageError(`Cannot use the folder ${path}: ${systemCode(error) ?? 'not found'}`)
    }
    if (!statSync(this.#root).isDirectory()) throw new UsageError(`Cannot use ${path}: it is not a folder`)
  }

  /** Throws a CommandError for a path outside of the folder. */
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

  /** Covers all files below a folder; with `beside`, those beside a file. */
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

function filesIn(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path]
  const names = readdirSync(path, { recursive: true, encoding: 'utf8' }).sort()
  if (names.length > maxFiles) throw tooMuch(path)
  return names.map((name) => join(path, name))
}

function tooMuch(path: string): UsageError {
  return new UsageError(`${path} has more than ${maxFiles} files or ${maxBytes / 1024 / 1024} MiB`)
}
