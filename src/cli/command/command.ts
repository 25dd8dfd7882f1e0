import type { Call } from '../../contract/calls.ts'
import type { Context } from './context.ts'
import type { BoundFlag, Flag } from './flag.ts'
import type { FlagValues } from './flag-value.ts'
import type { Refusals } from './refusals.ts'

/** A positional argument. A missing one is asked for on a terminal and refused without one, unless it is optional. */
export interface Argument {
  readonly name: string
  readonly summary: string
  readonly optional?: true
  /** The values that it takes, where these are known. */
  readonly choices?: readonly string[]
  /** True for a whole number from 1, such as a version. */
  readonly whole?: true
  /** Takes all that follows. */
  readonly rest?: true
  /** Flags that can stand in its place: with one of them it is not asked for. */
  readonly instead?: readonly string[]
  /** Flags whose value is accepted as this argument, but not listed, as they are typed: `--file`, `-f`. */
  readonly unlisted?: readonly string[]
}

/** What was given on the command line: arguments by name, flags by name. */
export interface Given {
  readonly arguments: Readonly<Record<string, string>>
  readonly flags: FlagValues
  /** The values of a `rest` argument. */
  readonly rest: readonly string[]
  /** True where an argument was asked for. */
  readonly isAsked?: true
}

/** One command: mostly data, from which help, parsing, questions and the reference are made. */
export interface Command {
  readonly name: string
  readonly summary: string
  /** True for a former name of another command, which works on: help and completion leave it out. */
  readonly unlisted?: true
  /** What else there is to know, for help. */
  readonly description?: string
  readonly arguments?: readonly Argument[]
  readonly flags?: readonly Flag[]
  /** Creates the local academy where its file is missing, but in a dry run; with any other command that is an error. */
  readonly createsAcademy?: true
  /** Global flags that it cannot honour, each with the reason: giving one is a usage error. */
  readonly refuses?: Refusals
  /** Whole command lines without `learnctl`. */
  readonly examples?: readonly string[]
  /** The operation that it calls, and what a table shows of the answer; absent where it is more than one call. */
  readonly calls?: {
    readonly operation: () => Promise<Call>
    readonly columns: readonly string[]
    /** Its flags by the place of the body or the query that each goes to. */
    readonly fields: readonly BoundFlag[]
    readonly query: readonly BoundFlag[]
  }
  /**
   * What an interruption means: `continues` where the same command goes on from there, `told` where a note of the command
   * says how to go on, `ends` where it is the usual end. By default what has been done stays.
   */
  readonly interruption?: 'continues' | 'told' | 'ends'
  run(context: Context, given: Given): Promise<void>
}
