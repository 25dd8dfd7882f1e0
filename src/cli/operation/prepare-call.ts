import type { AnyInput } from '../../client/call.ts'
import { isJsonObject } from '../../codec/json-text.ts'
import { mayDiffer } from '../../config/target.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { checkOwnChoices } from '../command/flag.ts'
import { matchingPaths } from '../output/columns.ts'
import type { Shape } from '../output/output.ts'
import { UsageError } from '../terminal/errors.ts'
import { makeBody } from './body.ts'
import type { BoundCall } from './bound-call.ts'
import { ifVersionFlag } from './operation-flags.ts'
import type { Rows } from './operation-spec.ts'
import { queryOf } from './query.ts'

/** A parsed call, before anything is sent. */
export interface PreparedCall {
  /** Input in the form of the command line; lacks a path parameter without an argument. */
  readonly input: AnyInput
  readonly shape: Shape
  /** Rows to print; undefined for the record itself. */
  readonly rows: Rows | undefined
  /** Secret field of the answer, shown only once. */
  readonly secret: string | undefined
}

/** Parses the flags of a call. Throws a UsageError if it cannot be sent or its answer not be shown as requested. */
export async function prepareCall(context: Context, given: Given, call: BoundCall): Promise<PreparedCall> {
  const { session, output, settings } = context
  const { spec, query, fields } = call
  const operation: Operation = call.operation
  const { shapeOf } = await import('./shape.ts')
  checkOwnChoices(session.target(), [...fields, ...query], given.flags)
  const rows = ['table', 'csv'].includes(settings.output.value) ? spec.rows : undefined
  const shape = rows ? shapeOfRows(rows) : shapeOf(call.operation, spec.columns ?? [])
  if (shape.paths.length > 0)
    output.check(shape, mayDiffer(session.target()) && operation.method === 'GET' ? 'open' : undefined)

  const input = await inputOf(context, given, call)
  const secretless = isJsonObject(input.body) && input.body[spec.secretUnless ?? ''] === true
  return { input, shape, rows, secret: secretless ? undefined : operation.secret }
}

async function inputOf(context: Context, given: Given, call: BoundCall): Promise<AnyInput> {
  const { spec, operation, fields, positions } = call
  const version = given.flags[ifVersionFlag.name]
  const { password } = spec
  const hasBody = [spec.fields, spec.fixed, password].some((part) => part !== undefined)
  // Every body is an object, so `fixed` is one.
  const fixed = spec.fixed as Readonly<Record<string, unknown>> | undefined
  const body = hasBody
    ? await makeBody(context, given, {
        ...{ operation, flags: fields, fixed, password, answers: call.answers ?? new Map<string, unknown>() },
      })
    : undefined
  const presumed = Object.entries(spec.presumed?.(new Date(context.io.now()).toISOString()) ?? {}).filter(
    ([field]) => body?.[field] === undefined,
  )
  const { subject } = spec
  return {
    params: Object.fromEntries(
      positions
        .filter(([parameter]) => parameter !== subject?.field)
        .map(([parameter, { name }]) => [parameter, given.arguments[name] ?? '']),
    ),
    query: queryOf(call.query, given.flags),
    ...(body && {
      body: {
        ...(spec.confirms && { [spec.confirms.field]: false }),
        ...body,
        ...Object.fromEntries(presumed),
        ...subjectOf(given, call),
      },
    }),
    ...(presumed.length > 0 && { handling: 'lenient' as const }),
    ...((typeof version === 'number' || typeof version === 'bigint') && { ifMatch: version }),
    signal: context.io.signal,
  }
}

/** Returns the field of the body that is given as an argument. Throws a UsageError if a flag gives it, too. */
function subjectOf({ arguments: named, flags }: Given, { spec: { subject }, fields }: BoundCall): object {
  const value = subject && named[subject.argument.name]
  if (subject === undefined || value === undefined) return {}
  const twice = fields.find(({ place, flag }) => place === subject.field && flags[flag.name] !== undefined)
  if (twice) {
    throw new UsageError(`--${twice.flag.name} and <${subject.argument.name}> cannot be used together`)
  }
  return { [subject.field]: value }
}

/** Throws a UsageError if the output would omit a secret that is shown only once. */
export function assertSecretShown(
  { settings: { quiet, columns } }: Context,
  secret: string,
  { paths }: Shape,
): void {
  // Ignore columns from a project's file that this answer lacks.
  const chosen = columns.value?.flatMap((column) => matchingPaths(column, paths)) ?? []
  const lost = quiet.value || (chosen.length > 0 && !chosen.includes(secret))
  if (!lost) return
  const { name } = quiet.value ? quiet.origin : columns.origin
  throw new UsageError(`${name} would lose the ${secret}, which is shown only once`, {
    code: 'secret_lost',
    hint: `To print it alone: --columns ${secret}`,
  })
}

function shapeOfRows({ columns }: Rows): Shape {
  return { table: columns, paths: columns }
}
