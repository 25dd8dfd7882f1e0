import type { Call } from '../../contract/calls.ts'
import type { Context } from './context.ts'
import type { BoundFlag, Flag } from './flag.ts'
import type { FlagValues } from './flag-value.ts'
import type { Refusals } from './refusals.ts'

/** A positional argument. A missing one is prompted for on a terminal and refused without one, unless it is optional. */
export interface Argument {
  readonly name: string
  readonly summary: string
  readonly optional?: true
  /** Accepted values, if known. */
  readonly choices?: readonly string[]
  /** True for an integer from 1, such as a version. */
  readonly whole?: true
  /** True to take all remaining arguments. */
  readonly rest?: true
  /** Flags that can replace it. */
  readonly instead?: readonly string[]
  /** Flags accepted in place of the argument but not listed, as typed: `--file`, `-f`. */
  readonly unlisted?: readonly string[]
}

/** The input of a command: arguments and flags by name. */
export interface Given {
  readonly arguments: Readonly<Record<string, string>>
  readonly flags: FlagValues
  /** Values of a `rest` argument. */
  readonly rest: readonly string[]
  /** True if an argument was entered at a prompt. */
  readonly isAsked?: true
}

/** A command as data: help, parsing, prompts and the reference are generated from it. */
export interface Command {
  readonly name: string
  readonly summary: string
  /** True for the former name of a command; help and completion leave it out. */
  readonly unlisted?: true
  /** Further details for help. */
  readonly description?: string
  readonly arguments?: readonly Argument[]
  readonly flags?: readonly Flag[]
  /**
   * Creates the local academy if its file is missing, except in a dry run; for other commands a missing file is an
   * error.
   */
  readonly createsAcademy?: true
  /** Global flags that it does not support, each with the reason; using one is a usage error. */
  readonly refuses?: Refusals
  /** Complete command lines without `learnctl`. */
  readonly examples?: readonly string[]
  /** The operation it calls and the columns of its table; absent if it makes several calls. */
  readonly calls?: {
    readonly operation: () => Promise<Call>
    readonly columns: readonly string[]
    /** Flags with their place in the body or the query. */
    readonly fields: readonly BoundFlag[]
    readonly query: readonly BoundFlag[]
  }
  /**
   * Effect of an interruption: with `continues` the same command resumes, with `told` the command itself prints how
   * to go on, with `ends` interrupting is the normal end. By default completed changes stay.
   */
  readonly interruption?: 'continues' | 'told' | 'ends'
  run(context: Context, given: Given): Promise<void>
}
