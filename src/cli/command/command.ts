import type { SettingName } from '../../config/setting.ts'
import type { Call } from '../../contract/calls.ts'
import { type ExitName, UsageError } from '../terminal/errors.ts'
import type { Io } from '../terminal/io.ts'
import type { Context } from './context.ts'
import type { BoundFlag, Effect, FileUse, Flag, FlagValues } from './flag.ts'

/** A missing one is prompted for on a terminal and refused without one, unless it is optional. */
export interface Argument {
  readonly name: string
  readonly summary: string
  readonly optional?: true
  readonly choices?: readonly string[]
  /** True for an integer from 1, such as a version. */
  readonly whole?: true
  readonly rest?: true
  readonly instead?: readonly string[]
  /** Set if it names a file or folder: what is done with it. */
  readonly file?: FileUse
  /** Flags accepted in place of the argument but not listed, as typed: `--file`, `-f`. */
  readonly unlisted?: readonly string[]
}

export function checkArgument({ name, choices = [] }: Argument, given: string | undefined): void {
  if (given === undefined || choices.includes(given)) return
  throw new UsageError(`<${name}> must be ${choices.join(', ')}, not ${JSON.stringify(given)}`, {
    code: 'invalid_choice',
    choice: { given, valid: choices },
  })
}

export interface Given {
  readonly arguments: Readonly<Record<string, string>>
  readonly flags: FlagValues
  readonly rest: readonly string[]
  readonly isPrompted?: true
}

/** Help, parsing, prompts and the reference are generated from it. */
export interface Command {
  readonly name: string
  readonly summary: string
  /** Former name of a command; help and completion leave it out. */
  readonly unlisted?: true
  /** Runs where the noun is followed by no other command. */
  readonly isDefault?: true
  /**
   * Kinds of change that it makes without further flags; empty if it only reads. A command that calls one operation may leave it out:
   * its method tells.
   */
  readonly writes?: readonly Effect[]
  /** True if it deletes or replaces data; set for a command that calls one operation by that. */
  readonly destructive?: true
  readonly confirms?: true
  /** Schemas of `-o json`, `Course[]` for a list; empty if that is no JSON. By default the response of the operation called. */
  readonly prints?: readonly string[]
  readonly alsoPrints?: readonly string[]
  readonly exits?: readonly ExitName[]
  readonly description?: string
  readonly arguments?: readonly Argument[]
  readonly flags?: readonly Flag[]
  /**
   * Creates the local academy if its file is missing, except in a dry run; for other commands a missing file is an
   * error.
   */
  readonly createsAcademy?: true
  /** Where it does not create a missing local academy, it plans for an empty one; for other commands that is an error. */
  readonly plansForEmpty?: true
  /** Global flags with the reason; using one is a usage error. */
  readonly refuses?: Refusals
  /** Flags of similar commands with the reason; using one is a usage error. */
  readonly refusesFlags?: Readonly<Record<string, string>>
  /** Set if its result is rows, printed or in the files of a folder, besides commands that end in `list` or call a list. */
  readonly hasRows?: true | 'in a folder'
  readonly examples?: readonly string[]
  /** The operation it calls and the columns of its table; absent if it makes several calls. */
  readonly calls?: {
    readonly operation: () => Promise<Call>
    readonly columns: readonly string[]
    readonly fields: readonly BoundFlag[]
    readonly query: readonly BoundFlag[]
  }
  /**
   * Effect of an interruption: with `continues` the same command resumes, with `explained` the command itself prints how
   * to go on, with `ends` interrupting is the normal end. By default completed changes stay.
   */
  readonly interruption?: 'continues' | 'explained' | 'ends'
  run(context: Context, given: Given): Promise<void>
}

function printsJson({ prints, alsoPrints, calls, destructive }: Command): boolean {
  if (prints) return prints.length > 0
  return alsoPrints !== undefined || (calls !== undefined && destructive !== true)
}

/** Name of the flag that shows the schema of a command's output; `validate` has one of its own. */
export const schemaFlag = 'schema'

export function showsSchema(command: Command): boolean {
  return printsJson(command) && !command.flags?.some(({ name }) => name === schemaFlag)
}

export type Refusals = Readonly<Partial<Record<SettingName, string>>>

export const notAList = {
  limit: 'The result is not a paged list',
  all: 'The result is not a paged list',
} as const satisfies Refusals

export const noColumns = { ...notAList, columns: 'The result has no columns' } as const satisfies Refusals

export const plainText = { ...noColumns, quiet: 'The result has no id' } as const satisfies Refusals

export const noTarget = {
  profile: 'This command does not use a platform',
  url: 'This command does not use a platform',
  database: 'This command does not use an academy',
} as const satisfies Refusals

export interface Invocation {
  readonly command: Command
  readonly name: string
  readonly globals: Readonly<Record<string, unknown>>
  readonly arguments: readonly string[]
  readonly flags: FlagValues
}

/** `['courses', 'create']`; null if there is none. */
type HelpOf = (path: readonly string[]) => Promise<string | null>

/** Runs another command line, without `learnctl`, in a context; its errors propagate. */
export type RunLine = (argv: readonly string[], context: Context) => Promise<void>

export interface NamedCommand {
  readonly path: string
  readonly command: Command
  readonly aliases: readonly string[]
}

/**
 * Runs another command line, without `learnctl`, with its own streams and context, and returns its exit code. `onReply`
 * receives the responses of the platform that are short texts.
 */
export type RunApart = (argv: readonly string[], io: Io, onReply?: (text: string) => void) => Promise<number>

export interface Host {
  readonly helpOf: HelpOf
  /**
   * Returns the command at a path, or all that are listed of a noun, a group or the program; null if these words are
   * none. Aliases are accepted.
   */
  readonly commandsAt: (path: readonly string[]) => Promise<readonly NamedCommand[] | null>
  /** `date` is ISO 8601. */
  readonly manual: (date: string) => Promise<string>
  readonly runLine: RunLine
  /** Parses a command line, without `learnctl`, and runs nothing. Throws HelpShown and UsageError. */
  readonly parseLine: (argv: readonly string[]) => Promise<Invocation>
  readonly runApart: RunApart
}

/** The first word after `learnctl`: a group of commands, or a command. */
export interface Noun {
  readonly group: string
  readonly summary: string
  readonly groups?: Readonly<Record<string, string>>
  readonly load: (host: Host) => Promise<readonly Command[] | Command>
}
