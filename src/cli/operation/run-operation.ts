import type { AnyInput } from '../../client/call-input.ts'
import type { Caller } from '../../client/caller.ts'
import { isJsonObject } from '../../codec/json-object.ts'
import type { Operation } from '../../contract/operation.ts'
import { checkChoices } from '../command/choices.ts'
import type { Given } from '../command/command.ts'
import { confirm } from '../command/confirm.ts'
import type { Context } from '../command/context.ts'
import { pathsMeant } from '../output/columns.ts'
import type { Shape } from '../output/output.ts'
import { UsageError } from '../terminal/errors.ts'
import { makeBody } from './body.ts'
import type { BoundCall } from './bound-call.ts'
import { showRequest } from './dry-run.ts'
import { createLookup } from './lookup.ts'
import { ifVersionFlag } from './operation-flags.ts'
import type { Rows } from './operation-spec.ts'
import { printAnswer } from './print-answer.ts'
import { queryOf } from './query.ts'
import { withSources } from './refused-call.ts'

/** Makes the call that a command stands for: flags become query and body, the answer goes to the output. */
export async function runOperation(context: Context, given: Given, call: BoundCall): Promise<void> {
  try {
    await callAndPrint(context, given, call)
  } catch (error) {
    throw withSources(error, call, given)
  }
}

async function callAndPrint(context: Context, given: Given, call: BoundCall): Promise<void> {
  const { session, output, settings } = context
  const { spec, query, fields } = call
  const operation: Operation = call.operation
  const caller: Caller = await session.caller()
  const { shapeOf } = await import('./shape.ts')
  const remote = session.target().kind === 'remote'
  if (!remote) {
    checkChoices(
      [...fields, ...query].map(({ flag }) => flag),
      given.flags,
    )
  }
  const rows = ['table', 'csv'].includes(settings.output.value) ? spec.rows : undefined
  const shape = rows ? shapeOfRows(rows) : shapeOf(call.operation, spec.columns ?? [])
  if (shape.paths.length > 0) output.check(shape, remote && operation.method === 'GET' ? 'open' : undefined)

  const input = await inputOf(context, given, call)
  const secretless = isJsonObject(input.body) && input.body[spec.secretUnless ?? ''] === true
  const secret = secretless ? undefined : operation.secret
  if (secret !== undefined) assertSecretShown(context, secret, shape)
  if (operation.list) {
    const flagOf = (parameter: string) =>
      `--${query.find(({ place }) => place === parameter)?.flag.name ?? parameter}`
    return (await import('./list.ts')).printList(context, caller, operation, input, shape, flagOf)
  }
  if (settings.dryRun.value) return showRequest(context, caller.request(operation, input))
  const { destroys } = spec
  if (destroys) {
    await confirm(context, destroys.action(given), () =>
      destroys.question(createLookup(caller, context.io.signal), given),
    )
  }
  // A platform that confirms to be strict has written what it was sent, or refused it.
  const sent: AnyInput =
    remote && ['POST', 'PUT'].includes(operation.method)
      ? {
          handling: 'strict',
          ...(await (await import('./settle-write.ts')).settleWrite(context, caller, operation, input)),
        }
      : input
  const result = await caller.call(operation, sent)
  await printAnswer(context, given, call, { input, sent, result, shape, rows, secret })
}

async function inputOf(context: Context, given: Given, call: BoundCall): Promise<AnyInput> {
  const { spec, operation, fields, positions } = call
  const version = given.flags[ifVersionFlag.name]
  const { password } = spec
  const hasBody = [spec.fields, spec.fixed, password].some((part) => part !== undefined)
  // `fixed` is an object wherever a body is: no operation takes anything else.
  const fixed = spec.fixed as Readonly<Record<string, unknown>> | undefined
  const body = hasBody
    ? await makeBody(context, given, { operation, flags: fields, fixed, password })
    : undefined
  const presumed = Object.entries(spec.presumed?.(new Date(context.io.now()).toISOString()) ?? {}).filter(
    ([field]) => body?.[field] === undefined,
  )
  return {
    params: Object.fromEntries(
      positions.map(([parameter, { name }]) => [parameter, given.arguments[name] ?? '']),
    ),
    query: queryOf(call.query, given.flags),
    ...(body && { body: { ...body, ...Object.fromEntries(presumed) } }),
    ...(presumed.length > 0 && { handling: 'lenient' as const }),
    ...((typeof version === 'number' || typeof version === 'bigint') && { ifMatch: version }),
    signal: context.io.signal,
  }
}

/** A secret is not made where the output has no place for it: it is shown this once. */
function assertSecretShown(
  { settings: { quiet, columns } }: Context,
  secret: string,
  { paths }: Shape,
): void {
  // Columns of a project's file that this answer does not have do not count.
  const chosen = columns.value?.flatMap((column) => pathsMeant(column, paths)) ?? []
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
