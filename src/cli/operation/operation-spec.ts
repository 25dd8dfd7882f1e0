import type { BodyInput, Operation, Params } from '../../contract/operation.ts'
import type { Argument } from '../command/command.ts'
import type { FieldFlag } from '../command/flag.ts'
import type { PasswordUse } from '../command/password.ts'
import type { ExitName } from '../terminal/exit-codes.ts'

/** The rows that are in an answer, and their columns. */
export interface Rows {
  readonly columns: readonly string[]
  readonly from: (answer: unknown) => readonly unknown[]
}

/** A command that calls one operation of the API. */
export interface OperationSpec<O extends Operation> {
  readonly name: string
  readonly summary: string
  readonly description?: string
  /** Loads the operation; the contract is not needed for help. */
  readonly operation: () => Promise<O>
  /** The path's parameters in the order of the command line. */
  readonly arguments?: { readonly [Name in keyof Params<O>]: Argument }
  /** A flag for each field of the body, by dotted path: a value that `satisfies FieldFlags<…>`. */
  readonly fields?: Readonly<Record<string, FieldFlag>>
  /** A flag for each query parameter: a value that `satisfies QueryFlags<…>`. */
  readonly query?: Readonly<Record<string, FieldFlag>>
  /** Fields of the body that make this command what it is, such as the status of `publish`. */
  readonly fixed?: BodyInput<O>
  /** When it takes a password, as a field of the body. */
  readonly password?: PasswordUse
  /** The field of the body that leaves the answer without the operation's secret where it is true. */
  readonly secretUnless?: string
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
  /** What is asked before it is done, such as `delete course crs_1`. */
  readonly destructive?: (names: Readonly<Record<string, string>>) => string
  /** What is said when it is done and the answer, if there is one, does not show it. */
  readonly done?: (names: Readonly<Record<string, string>>) => string
  readonly examples?: readonly string[]
}
