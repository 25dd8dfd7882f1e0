import type { AnyInput } from '../../client/call-input.ts'
import type { Caller } from '../../client/caller.ts'
import { isJsonObject } from '../../codec/json-object.ts'
import type { BodyInput, Operation, Params } from '../../contract/operation.ts'
import { checkChoices } from '../command/choices.ts'
import type { Argument, Command, Given } from '../command/command.ts'
import { confirm } from '../command/confirm.ts'
import type { Context } from '../command/context.ts'
import { type BoundFlag, bound, type FieldFlag, type Flag, fieldFlags } from '../command/flag.ts'
import { type PasswordUse, passwordFlag } from '../command/password.ts'
import { withTimeZone } from '../command/time-flag.ts'
import { onePage } from '../output/one-page.ts'
import type { Shape } from '../output/output.ts'
import { ExitWith, UsageError } from '../terminal/errors.ts'
import type { ExitName } from '../terminal/exit-codes.ts'
import { bodyFlag, makeBody, unsetFlag } from './body.ts'
import { showRequest } from './dry-run.ts'

/** The rows that are in an answer, and their columns. */
export interface Rows {
  readonly columns: readonly string[]
  readonly from: (answer: unknown) => readonly unknown[]
}

/** A command that calls one operation of the API. */
export interface Call<O extends Operation> {
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

const ifVersionFlag: Flag = {
  name: 'if-version',
  kind: 'number',
  summary: 'Only while it is at this version; else exit 6',
}

/** The command that makes a call: flags become query and body, the answer goes to the output. */
export function call<const O extends Operation>(spec: Call<O>): Command {
  const query = bound(spec.query)
  const fields = fieldFlags(spec.fields)
  const positions = Object.entries<Argument>(spec.arguments ?? {})
  const flags = withTimeZone([
    ...[...fields, ...query].map(({ flag }) => flag),
    ...(spec.fields ? [bodyFlag] : []),
    ...(spec.password === 'on request' ? [passwordFlag] : []),
    ...(spec.merge && spec.fields ? [unsetFlag] : []),
    ...(spec.versioned ? [ifVersionFlag] : []),
  ])

  async function inputOf(context: Context, given: Given, operation: Operation): Promise<AnyInput> {
    const version = given.flags[ifVersionFlag.name]
    const { password } = spec
    const hasBody = [spec.fields, spec.fixed, password].some((part) => part !== undefined)
    // `fixed` is an object wherever a body is: no operation takes anything else.
    const fixed = spec.fixed as Readonly<Record<string, unknown>> | undefined
    return {
      params: Object.fromEntries(
        positions.map(([parameter, { name }]) => [parameter, given.arguments[name] ?? '']),
      ),
      query: queryOf(query, given),
      ...(hasBody && { body: await makeBody(context, given, { operation, flags: fields, fixed, password }) }),
      ...(typeof version === 'number' && { ifMatch: version }),
      signal: context.io.signal,
    }
  }

  async function run(context: Context, given: Given): Promise<void> {
    const { session, output, settings } = context
    const caller: Caller = await session.caller()
    const [operation, { shapeOf }] = await Promise.all([spec.operation(), import('./schema.ts')])
    const remote = session.target().kind === 'remote'
    if (!remote) checkChoices(flags, given.flags)
    const rows = ['table', 'csv'].includes(settings.output.value) ? spec.rows : undefined
    const shape = rows ? shapeOfRows(rows) : shapeOf(operation, spec.columns ?? [])
    if (shape.paths.length > 0) output.check(shape, remote && operation.method === 'GET' ? 'open' : undefined)

    // The operation's own type is what `spec` was checked against; from here on any operation is treated alike.
    const any: Operation = operation
    const input = await inputOf(context, given, any)
    const { secret: declared } = any
    const secretless = isJsonObject(input.body) && input.body[spec.secretUnless ?? ''] === true
    const secret = secretless ? undefined : declared
    if (secret !== undefined) assertSecretShown(context, secret, shape)
    if (any.list) return (await import('./list.ts')).printList(context, caller, any, input, shape)
    if (settings.dryRun.value) return showRequest(context, caller.request(any, input))
    if (spec.destructive) await confirm(context, spec.destructive(given.arguments))
    const { data, replayed } = await caller.call(any, input)
    if (replayed && secret !== undefined) {
      await output.note(
        `the ${secret} is lost with the answer that did not come; delete this and make another`,
      )
    }
    if (any.response !== null) {
      await (rows ? output.list(onePage(rows.from(data)), shape) : output.one(data, shape))
    }
    if (spec.done && !settings.quiet.value) await output.note(spec.done(given.arguments))
    const exit = spec.exits?.(data)
    if (exit) throw new ExitWith(exit)
  }

  return {
    name: spec.name,
    summary: spec.summary,
    arguments: positions.map(([, argument]) => argument),
    flags,
    ...(spec.description !== undefined && { description: spec.description }),
    ...(spec.examples && { examples: spec.examples }),
    calls: { operation: spec.operation, columns: spec.columns ?? [] },
    run,
  }
}

/** A secret is not made where the output has no place for it: it is shown this once. */
function assertSecretShown(
  { settings: { quiet, columns } }: Context,
  secret: string,
  { paths }: Shape,
): void {
  // Columns of a project's file that this answer does not have do not count.
  const chosen = columns.value?.filter((column) => paths.includes(column)) ?? []
  const lost = quiet.value || (chosen.length > 0 && !chosen.includes(secret))
  if (!lost) return
  const { name } = quiet.value ? quiet.origin : columns.origin
  throw new UsageError(`with ${name} the ${secret} would be lost: it is shown this once`, {
    code: 'secret_lost',
    hint: `for that alone: --columns ${secret}`,
  })
}

function queryOf(query: readonly BoundFlag[], given: Given): Record<string, unknown> {
  return Object.fromEntries(
    query.flatMap(({ place, flag }) => {
      const value = given.flags[flag.name]
      return value === undefined ? [] : [[place, value]]
    }),
  )
}

function shapeOfRows({ columns }: Rows): Shape {
  return { table: columns, fields: columns, paths: columns }
}
