import type { Caller } from '../../client/caller.ts'
import type { JsonObject } from '../../codec/json-object.ts'
import type { Call } from '../../contract/calls.ts'
import type { BodyInput, Params } from '../../contract/operation.ts'
import type { Argument, Given } from '../command/command.ts'
import type { Question } from '../command/confirm.ts'
import type { Context } from '../command/context.ts'
import type { FieldFlag, Flag } from '../command/flag.ts'
import type { PasswordUse } from '../command/password.ts'
import type { DatasetName } from '../dataset/dataset.ts'
import type { ExitName } from '../terminal/exit-codes.ts'
import type { Lookup } from './lookup.ts'

/** The rows that are in an answer, and their columns. */
export interface Rows {
  readonly columns: readonly string[]
  readonly from: (answer: unknown) => readonly unknown[]
  /** The same for a table on a terminal, where whole values would be cut off. */
  readonly short?: (answer: unknown) => readonly unknown[]
}

/** What an operation destroys, as it was given, and as the question names it. */
export interface Destruction {
  /** As in `Refusing to … without confirmation`: `delete course ext:BIO-101`. */
  readonly action: (given: Given) => string
  /** Reads a single record before it is destroyed; undefined where the platform does not show it. */
  readonly read: (look: Lookup, given: Given) => Promise<unknown>
  /** The question about the record that was read. */
  readonly question: (look: Lookup, given: Given, found: unknown) => Promise<Question>
  /** What it means for several things at once, of which none is looked up; irreversible ones take their number typed. */
  readonly several?: (
    look: Lookup,
    given: Given,
  ) => Promise<{ readonly consequence: string; readonly irreversible?: boolean }>
}

/** A refusal of the platform that a confirmation, or a switch in its place, takes back. */
export interface Confirmed {
  /** The switch of the body: false until it is confirmed. */
  readonly field: string
  /** The code of the fault that is refused. */
  readonly code: string
  /** As in `Refusing to … without confirmation`. */
  readonly action: (given: Given) => string
  readonly consequence: string
}

/** Gives the id of the thing that a command line names otherwise, such as a key by its name. May read, never writes. */
export type Find = (given: Given) => Promise<string>

/** What a thing may be found by. */
export interface Finding {
  readonly context: Context
  readonly caller: Caller
}

/** How a thing is found that is there already. */
export interface Existing {
  /** The records that it is one of, found by their key; it can be changed. */
  readonly dataset?: DatasetName
  /** How it is found otherwise; null where there is none. */
  readonly find?: (context: Context, caller: Caller, body: JsonObject) => Promise<JsonObject | null>
  /** What it is called in a line about it: `user Ada Lovelace (ada@example.org)`. */
  readonly name: (thing: unknown, given: Given) => string
}

/** A command that calls one operation of the API. */
export interface OperationSpec<O extends Call> {
  readonly name: string
  readonly summary: string
  readonly description?: string
  /** Loads the operation; the contract is not needed for help. */
  readonly operation: () => Promise<O>
  /** The path's parameters in the order of the command line. */
  readonly arguments?: { readonly [Name in keyof Params<O>]: Argument }
  /** A field of the body that comes as an argument, such as the learner of a grade. */
  readonly subject?: { readonly field: string; readonly argument: Argument }
  /** What things are called when there are several, `courses`: it takes many arguments, and `--ids`. */
  readonly several?: string
  /** How the thing is found where the argument is no id; what it reads for one thing it may keep for the next. */
  readonly finds?: (finding: Finding) => Promise<Find>
  /** How a thing is found that is there already: `--if-not-exists`, and `--upsert` where it can be changed. */
  readonly exists?: Existing
  /** Flags that find the thing, beside those of the request. */
  readonly flags?: readonly Flag[]
  /** A flag for each field of the body, by dotted path: a value that `satisfies FieldFlags<…>`. */
  readonly fields?: Readonly<Record<string, FieldFlag>>
  /** A flag for each query parameter: a value that `satisfies QueryFlags<…>`. */
  readonly query?: Readonly<Record<string, FieldFlag>>
  /** Fields of the body that make this command what it is, such as the status of `publish`. */
  readonly fixed?: BodyInput<O>
  /**
   * Fields that are sent as of now where they are not given, for platforms that have no such default. Ours may adjust
   * them (`lenient`).
   *
   * @param now ISO 8601 in UTC
   */
  readonly presumed?: (now: string) => Partial<BodyInput<O>>
  /** When it takes a password, as a field of the body. */
  readonly password?: PasswordUse
  /** The field of the body that leaves the answer without the operation's secret where it is true. */
  readonly secretUnless?: string
  /** Advice for the case that the response with the operation's secret was lost. */
  readonly ifLost?: string
  /** True for a merge patch (PUT): `--unset`, and at least one change. */
  readonly merge?: true
  /** True for a resource with versions: `--if-version`. */
  readonly versioned?: true
  /** The columns of a table. */
  readonly columns?: readonly string[]
  /** What a table or CSV shows instead of the whole answer. */
  readonly rows?: Rows
  /** The exit code that an answer stands for, where it is not the one of success. */
  readonly exits?: (answer: unknown) => ExitName | null
  /** What is asked before it is done, where it destroys something. */
  readonly destroys?: Destruction
  /** A refusal that can be confirmed. */
  readonly confirms?: Confirmed
  /**
   * The line that says what was done, instead of the record: `Created course Marine Biology (BIO-101)`. `answer` is what
   * was read before where it was deleted; `unchanged` is true where an update found everything as requested.
   */
  readonly done?: (answer: unknown, given: Given, unchanged: boolean) => string
  /** The same with what can only be asked afterwards; where that is undefined it is the line of `done`. */
  readonly told?: (look: Lookup, given: Given) => Promise<string | undefined>
  /** What there is to know besides the lines of a table, once it is done. */
  readonly notes?: (answer: object, given: Given) => string | null | Promise<string | null>
  readonly examples?: readonly string[]
}
