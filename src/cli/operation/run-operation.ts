import type { AnyInput, Result } from '../../client/call-input.ts'
import type { Caller } from '../../client/caller.ts'
import { isJsonObject } from '../../codec/json-object.ts'
import { platformName } from '../../config/target.ts'
import type { Operation } from '../../contract/operation.ts'
import { checkChoices } from '../command/choices.ts'
import type { Given } from '../command/command.ts'
import { confirm } from '../command/confirm.ts'
import type { Context } from '../command/context.ts'
import { recordAsked } from '../output/asked.ts'
import { pathsMeant } from '../output/columns.ts'
import type { Shape } from '../output/output.ts'
import { ExitWith, UsageError } from '../terminal/errors.ts'
import { visible } from '../terminal/visible.ts'
import { answeredId, answeredThing } from './answered-id.ts'
import { makeBody } from './body.ts'
import { showRequest } from './dry-run.ts'
import { createLookup } from './lookup.ts'
import { ifVersionFlag } from './operation-flags.ts'
import type { OperationSpec, Rows } from './operation-spec.ts'
import { queryOf } from './query.ts'
import { type Sources, withSources } from './refused-call.ts'
import type { WrittenFields } from './written-fields.ts'

/** A declared command, with what its flags and arguments stand for. */
export interface BoundCall extends Sources {
  readonly spec: Omit<OperationSpec<Operation>, 'arguments' | 'operation'>
  readonly operation: Operation
}

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
  const { spec, operation, query, fields } = call
  const caller: Caller = await session.caller()
  const { shapeOf } = await import('./schema.ts')
  const remote = session.target().kind === 'remote'
  if (!remote) {
    checkChoices(
      [...fields, ...query].map(({ flag }) => flag),
      given.flags,
    )
  }
  const rows = ['table', 'csv'].includes(settings.output.value) ? spec.rows : undefined
  const shape = rows ? shapeOfRows(rows) : shapeOf(operation, spec.columns ?? [])
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
  const settled =
    remote && ['POST', 'PUT'].includes(operation.method)
      ? await (await import('./settle-write.ts')).settleWrite(context, caller, operation, input)
      : input
  const result = await caller.call(operation, settled)
  const { data, replayed } = result
  if (result.fromList) {
    await output.note(`The platform does not support ${operation.id}; showing the entry from its list`)
  }
  if (replayed && secret !== undefined) {
    await output.note(
      `The response with the ${secret} was lost; ${spec.ifLost ?? 'delete this and create another'}`,
    )
  }
  // A secret is shown this once, with the record that it is part of.
  const told = spec.done && secret === undefined && (operation.response === null || !recordAsked(settings))
  const written = operation.method !== 'GET' && shape.paths.includes(operation.identifier ?? 'id')
  const id = written ? answeredId(operation, input, result) : null
  const compared =
    remote && settled.body !== undefined && !isOurs(result)
      ? (await import('./written-fields.ts')).writtenFields(operation, settled, data)
      : null
  const unset = compared !== null && compared.other.length > 0
  if (told) {
    if (!unset) await output.done(spec.done(answeredThing(data, input, id), given))
    if (!context.io.stdout.isTTY && id !== null) await output.text(`${visible(id)}\n`)
  } else if (written && settings.quiet.value) {
    if (id !== null) await output.text(`${visible(id)}\n`)
  } else if (operation.response !== null) {
    await (rows ? output.list([rows.from(data)], shape) : output.one(data, shape))
    if (secret !== undefined && !replayed && context.io.stdout.isTTY) {
      await output.note(`Save the ${inWords(secret)} now; it is shown only once`)
    }
  }
  const answered = isJsonObject(data) || operation.method === 'GET' || operation.response === null
  if (written && id === null) {
    const [noun] = operation.id.split('.')
    await output.note(`The response has no id; find it with: learnctl ${noun} list`)
  } else if (!answered && !told && !settings.quiet.value) {
    const made = operation.method === 'POST' && id !== null ? `; its id is ${visible(id)}` : ''
    await output.note(`The response does not contain the record${made}`)
  }
  if (compared) await tellCompared(context, compared, call, given)
  // The record says it itself.
  const silent = replayed || settings.output.value !== 'table' || !isJsonObject(data)
  const note = silent ? null : spec.notes?.(data, given)
  if (note) await output.note(note)
  const exit = spec.exits?.(data)
  if (exit) throw new ExitWith(exit)
}

/** Our server keeps what it is sent, or refuses it. */
function isOurs({ requestId }: Pick<Result<unknown>, 'requestId'>): boolean {
  return requestId?.startsWith('req_') === true
}

/** Says what a write left out: values that are other ones are an error, those that are not shown get a note. */
async function tellCompared(
  { session, output }: Context,
  compared: WrittenFields,
  call: BoundCall,
  given: Given,
): Promise<void> {
  const { notSetError, typedName } = await import('./written-fields.ts')
  const host = platformName(session.target())
  for (const field of compared.unshown) {
    await output.note(`Cannot check ${typedName(field, call, given)}: ${host} does not show ${field}`)
  }
  if (compared.other.length > 0) throw notSetError(host, compared, call, given)
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

/** `clientSecret` as it is said: client secret. */
function inWords(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
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
