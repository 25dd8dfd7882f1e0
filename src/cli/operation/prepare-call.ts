import type { AnyInput } from '../../client/call.ts'
import { isJsonObject } from '../../codec/json-text.ts'
import { mayDiffer } from '../../config/target.ts'
import type { Call } from '../../contract/calls.ts'
import type { Operation } from '../../contract/operation.ts'
import { valueAt } from '../../tables/column.ts'
import type { Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { type BoundFlag, checkOwnChoices, type Flag, noneText, parseFlag } from '../command/flag.ts'
import {
  type PasswordUse,
  passwordFlag,
  readPassword,
  readSecret,
  readsInput,
} from '../command/secret-input.ts'
import { matchingPaths, setAt } from '../output/columns.ts'
import type { Shape } from '../output/output.ts'
import { UsageError } from '../terminal/errors.ts'
import { readDocument } from './document.ts'
import { bodyFlag, ifVersionFlag, queryOf, unsetFlag } from './operation-flags.ts'
import type { BoundCall, Rows } from './operation-spec.ts'

export interface PreparedCall {
  /** Input in the form of the command line; lacks a path parameter without an argument. */
  readonly input: AnyInput
  readonly shape: Shape
  /** Undefined for the record itself. */
  readonly rows: Rows | undefined
  /** Field of the answer, shown only once. */
  readonly secret: string | undefined
}

/** Throws a UsageError if the call cannot be sent or its answer not be shown as requested. */
export async function prepareCall(context: Context, given: Given, call: BoundCall): Promise<PreparedCall> {
  const { session, output, settings } = context
  const { spec, query, fields } = call
  const operation: Operation = call.operation
  checkOwnChoices(session.target(), [...fields, ...query], given.flags)
  const rows = ['table', 'csv'].includes(settings.output.value) ? spec.rows : undefined
  const shape = rows ? shapeOfRows(rows) : shapeOf(call.operation, spec.columns ?? [])
  if (shape.paths.length > 0) {
    const isOpen = mayDiffer(session.target())
    output.check(shape, operation.method !== 'GET' ? 'write' : isOpen ? 'open' : undefined)
  }

  const input = await inputOf(context, given, call)
  const secretless = isJsonObject(input.body) && input.body[spec.secretUnless ?? ''] === true
  return { input, shape, rows, secret: secretless ? undefined : operation.secret }
}

async function inputOf(context: Context, given: Given, call: BoundCall): Promise<AnyInput> {
  const { spec, operation, fields, positions } = call
  const version = given.flags[ifVersionFlag.name]
  const { password, secretField } = spec
  const hasBody = [spec.fields, spec.fixed, password].some((part) => part !== undefined)
  // Every body is an object, so `fixed` is one.
  const fixed = spec.fixed as Readonly<Record<string, unknown>> | undefined
  const body = hasBody
    ? await makeBody(context, given, {
        ...{ operation, flags: fields, fixed, password, secretField },
        answers: call.answers ?? new Map<string, unknown>(),
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

/** Sources of a body; later ones override earlier ones. */
interface BodySources {
  readonly operation: Call
  readonly flags: readonly BoundFlag[]
  readonly fixed: Readonly<Record<string, unknown>> | undefined
  readonly password: PasswordUse | undefined
  readonly secretField: BoundCall['spec']['secretField']
  /** Answers to prompts by field path, kept for a retry. */
  readonly answers: Map<string, unknown>
}

/** Prompts for missing required fields on a terminal. Throws a UsageError if an update would change nothing. */
async function makeBody(
  context: Context,
  given: Given,
  sources: BodySources,
): Promise<Record<string, unknown>> {
  const { operation, flags, fixed } = sources
  const { password } = sources
  const withPassword =
    password === 'always' || (password === 'on request' && given.flags[passwordFlag.name] === true)
  if (withPassword) assertInputFree(given)
  const body = await startingBody(context, given, operation)
  Object.assign(body, fixed)
  for (const { place, flag } of flags) {
    const value = given.flags[flag.name]
    if (value === undefined) continue
    setAt(body, place.split('.'), apiValueOf(flag, value))
  }
  for (const name of unsetNames(given)) setAt(body, fieldNamed(name, flags).split('.'), null)
  await promptForMissing(context, given, body, sources)
  if (withPassword) body['password'] = await readPassword(context)
  if (sources.secretField) {
    const { field, input } = sources.secretField
    if (readsInput(given.flags, input)) assertInputFree(given, `${input.name}-stdin`)
    const secret = await readSecret(context, given.flags, input)
    if (secret !== undefined) body[field] = secret
  }
  if (operation.merge && Object.keys(body).length === 0) {
    throw new UsageError('Nothing to update', {
      hint: `Specify a field, such as --${flags[0]?.flag.name}, or --body`,
    })
  }
  return body
}

function assertInputFree({ flags }: Given, flag = passwordFlag.name): void {
  if (!/^@?-$/.test(String(flags[bodyFlag.name]))) return
  throw new UsageError(`--${bodyFlag.name} and --${flag} cannot both read standard input`)
}

async function startingBody(
  { io }: Context,
  given: Given,
  operation: Call,
): Promise<Record<string, unknown>> {
  const source = given.flags[bodyFlag.name]
  if (source === undefined) return {}
  const document = await readDocument(io, String(source), `--${bodyFlag.name}`)
  if (!isJsonObject(document)) throw new UsageError('--body must be an object')
  if (operation.merge) return { ...document }
  const readOnly = readOnlyFields(operation)
  return Object.fromEntries(Object.entries(document).filter(([field]) => !readOnly.includes(field)))
}

function unsetNames(given: Given): readonly string[] {
  const names = given.flags[unsetFlag.name]
  return Array.isArray(names) ? names.map(String) : []
}

function fieldNamed(name: string, flags: readonly BoundFlag[]): string {
  const found = flags.find(({ place, flag }) => flag.name === name || place === name)
  if (found) return found.place
  const valid = flags.map(({ flag }) => flag.name)
  throw new UsageError(`Unknown field for --unset: ${JSON.stringify(name)}`, {
    why: [`Fields: ${valid.join(', ')}`],
    choice: { given: name, valid },
  })
}

async function promptForMissing(
  context: Context,
  given: Given,
  body: Record<string, unknown>,
  { flags, answers }: BodySources,
) {
  const { prompts } = context
  const fromDocument = given.flags[bodyFlag.name] !== undefined
  for (const [place, answer] of answers) setAt(body, place.split('.'), answer)
  const missing = flags.filter(
    ({ place, flag: { required, unless } }) =>
      required &&
      valueAt(body, place) === undefined &&
      (unless === undefined || valueAt(body, unless) === undefined),
  )
  // A missing field may be misspelt in the document: the server reports both together.
  if (fromDocument && prompts.refusal !== null) return
  if (missing.length > 0 && prompts.refusal !== null) {
    const nameOf = (place: string) => `--${flags.find((each) => each.place === place)?.flag.name ?? place}`
    const names = missing
      .map(({ place, flag: { unless } }) =>
        unless === undefined ? nameOf(place) : `${nameOf(place)} or ${nameOf(unless)}`,
      )
      .join(', ')
    throw new UsageError(`${names} ${missing.length === 1 ? 'is' : 'are'} required`, {
      code: 'missing_value',
      why: [prompts.refusal],
    })
  }
  const beside = missing.length > 0 || given.isPrompted || answers.size > 0
  const asked = ({ place, flag }: BoundFlag) =>
    beside && flag.asked && !fromDocument && prompts.refusal === null && valueAt(body, place) === undefined
  const questions = flags.filter((bound) => missing.includes(bound) || asked(bound))
  if (questions.length > 0) await requireReferences(context, given, flags)
  for (const bound of questions) {
    const { place, flag } = bound
    const answer = apiValueOf(flag, await promptFor(context, flag))
    answers.set(place, answer)
    setAt(body, place.split('.'), answer)
  }
}

/** Throws the ApiError of a reference that is not found: the answers to the prompts would be lost with the call. */
async function requireReferences(context: Context, given: Given, flags: readonly BoundFlag[]): Promise<void> {
  const { requireThing } = await import('../command/pick-thing.ts')
  for (const { flag } of flags) {
    const value = given.flags[flag.name]
    if (typeof value === 'string') await requireThing(context, flag.name, value)
  }
}

async function promptFor(context: Context, flag: Flag): Promise<unknown> {
  const { prompts } = context
  const question = `${flag.summary}:`
  if (flag.choices) return prompts.choice(question, flag.choices)
  const { pickThing, pickedNouns } = await import('../command/pick-thing.ts')
  if (flag.name in pickedNouns) return pickThing(context, flag.name)
  const check = (text: string) => invalidReason(flag, text) ?? true
  return parseFlag(flag, await prompts.text(question, check, flag.asked && flag.default), undefined)
}

function apiValueOf(flag: Flag, value: unknown): unknown {
  return flag.none && value === noneText ? null : value
}

function invalidReason(flag: Flag, text: string): string | null {
  try {
    parseFlag(flag, text, undefined)
    return null
  } catch (error) {
    if (error instanceof UsageError) return error.message
    throw error
  }
}

export function shapeOf(operation: Call, table: readonly string[]): Shape {
  const { answer } = operation.holds
  return {
    table: table.length > 0 ? table : answer.filter(isField),
    paths: answer,
    identifier: operation.identifier,
    operation: operation.id,
  }
}

/** Returns the fields of answers that bodies lack, to be removed when a resource is sent back as a new one. */
function readOnlyFields({ holds: { answer, body } }: Call): string[] {
  return answer.filter((path) => isField(path) && !body.includes(path))
}

function isField(path: string): boolean {
  return !path.includes('.')
}
