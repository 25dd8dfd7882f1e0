import type { Caller } from '../../client/caller.ts'
import type { JsonObject } from '../../codec/json-text.ts'
import type { Call } from '../../contract/calls.ts'
import type { BodyInput, Params } from '../../contract/operation.ts'
import type { Argument, Given } from '../command/command.ts'
import type { Question } from '../command/confirm.ts'
import type { Context } from '../command/context.ts'
import type { Effect, FieldFlags, Flag } from '../command/flag.ts'
import type { Lookup } from '../command/lookup.ts'
import type { PasswordUse, SecretInput } from '../command/secret-input.ts'
import type { DatasetName } from '../dataset/dataset.ts'
import type { ExitName } from '../terminal/errors.ts'
import type { Sources } from './refused-call.ts'

export interface Rows {
  readonly columns: readonly string[]
  readonly from: (answer: unknown) => readonly unknown[]
  /** Rows for a table on a terminal, which would truncate whole values. */
  readonly short?: (answer: unknown) => Promise<readonly unknown[]>
}

interface Destruction {
  /** As in `Refusing to … without confirmation`: `delete course ext:BIO-101`. */
  readonly action: (given: Given) => string
  /** Undefined where the platform does not show the record. */
  readonly read: (look: Lookup, given: Given) => Promise<unknown>
  readonly question: (look: Lookup, given: Given, found: unknown) => Promise<Question>
  /** Question about several things, without looking them up; if irreversible, the user types their number. */
  readonly several?: (
    look: Lookup,
    given: Given,
  ) => Promise<{ readonly consequence: string; readonly irreversible?: boolean }>
}

interface Confirmed {
  /** Boolean field of the body that overrides it: false until confirmed. */
  readonly field: string
  readonly code: string
  /** As in `Refusing to … without confirmation`. */
  readonly action: (given: Given) => string
  readonly consequence: string
}

/** Finds an API key by its name, for example. May read, never writes. */
export type Find = (given: Given) => Promise<string>

export interface Finding {
  readonly context: Context
  readonly caller: Caller
}

interface Existing {
  /** A thing with a dataset is found by its key and can be updated. */
  readonly dataset?: DatasetName
  /** Finds it without a dataset; null if there is none. */
  readonly find?: (context: Context, caller: Caller, body: JsonObject) => Promise<JsonObject | null>
  /** Name in messages: `user Ada Lovelace (ada@example.org)`. */
  readonly name: (thing: unknown, given: Given) => string
}

export interface OperationSpec<O extends Call> {
  readonly name: string
  readonly summary: string
  readonly description?: string
  /** Default: those of the HTTP method of its operation. */
  readonly writes?: readonly Effect[]
  /** Schemas of what it prints, if that is not the response. */
  readonly prints?: readonly string[]
  /** Loaded lazily, since help does not need the contract. */
  readonly operation: () => Promise<O>
  readonly arguments?: { readonly [Name in keyof Params<O>]: Argument }
  /** A field that is an argument, such as the learner of a grade. */
  readonly subject?: { readonly field: string; readonly argument: Argument }
  /** Plural noun, `courses`, if the last argument may be several, or come from `--ids`. */
  readonly several?: string
  /** Looks up arguments that are not ids; it may cache what it reads for further things. */
  readonly finds?: (finding: Finding) => Promise<Find>
  /** Adds `--if-not-exists`, and `--upsert` if it can be updated. */
  readonly exists?: Existing
  readonly flags?: readonly Flag[]
  /** Fields of the body by dotted path. */
  readonly fields?: FieldFlags
  readonly query?: FieldFlags
  /** Constant fields, such as the status of `publish`. */
  readonly fixed?: BodyInput<O>
  /**
   * Returns defaults to send for absent fields, since some platforms have none. Our server may adjust them
   * (`lenient`).
   *
   * @param now ISO 8601 in UTC
   */
  readonly presumed?: (now: string) => Partial<BodyInput<O>>
  readonly password?: PasswordUse
  /** A secret of another system, from standard input. */
  readonly secretField?: { readonly field: string; readonly input: SecretInput }
  /** Field of the body that, if true, leaves the secret out of the answer. */
  readonly secretUnless?: string
  /** Hint if the response with the secret is lost. */
  readonly ifLost?: string
  /** True for a merge patch (PUT): adds `--unset` and requires at least one change. */
  readonly merge?: true
  /** True for a resource with versions: adds `--if-version`. */
  readonly versioned?: true
  readonly columns?: readonly string[]
  /** Rows to print in a table or CSV instead of the whole answer. */
  readonly rows?: Rows
  /** Null for success. */
  readonly exits?: (answer: unknown) => ExitName | null
  readonly exitNames?: readonly ExitName[]
  readonly destroys?: Destruction
  readonly confirms?: Confirmed
  /** Replaces the record: `Created course Marine Biology (BIO-101)`. `answer` is a deleted record as it was read before. */
  readonly done?: (answer: unknown, given: Given, unchanged: boolean) => string
  /** Returns a success line that needs further reads; undefined falls back to `done`. */
  readonly readDone?: (look: Lookup, given: Given) => Promise<string | undefined>
  readonly notes?: (answer: object, given: Given) => string | null | Promise<string | null>
  readonly examples?: readonly string[]
}

export interface BoundCall extends Sources {
  readonly spec: Omit<OperationSpec<Call>, 'arguments' | 'operation'>
  readonly operation: Call
  readonly answers?: Map<string, unknown>
}
