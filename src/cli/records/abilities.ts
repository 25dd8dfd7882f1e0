import type { Caller } from '../../client/caller.ts'
import { ApiError, NotOfferedError } from '../../client/errors.ts'
import { isOffered, listParameters, publishedApi, publishes } from '../../client/published-api.ts'
import { discardBody } from '../../client/reply.ts'
import { encodePath } from '../../client/request.ts'
import { isJsonObject, type JsonObject, jsonText } from '../../codec/json-text.ts'
import { platformName, type Target } from '../../config/target.ts'
import { type Call, calls } from '../../contract/calls.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Context } from '../command/context.ts'
import type { Dataset, DatasetName } from '../dataset/dataset.ts'
import { loadDataset } from '../dataset/load-dataset.ts'
import { recordPages } from '../dataset/shown-records.ts'
import { unknownSupportNote } from '../operation/write-notes.ts'
import { CommandError } from '../terminal/errors.ts'
import { note } from '../terminal/io.ts'

/** Operations that a platform offers for the records of a dataset, known before anything is sent. */
export interface Abilities {
  /** True if one request takes many rows and the server matches each by its key. */
  readonly batch: boolean
  /** Records can be looked up. */
  readonly find: boolean
  /** True if records can be updated; null if only an attempt can tell. */
  readonly change: boolean | null
  /** True if one record can be read by its reference; otherwise lists are searched. */
  readonly get: boolean
  /** True if the platform repeats its first answer to a POST with the same Idempotency-Key. */
  readonly keys: boolean
  /**
   * List parameter that takes several users, and the field of a record that holds the user; null if there is none.
   */
  readonly severalUsers: { readonly parameter: string; readonly field: string } | null
}

const everything: Abilities = {
  batch: true,
  find: true,
  change: true,
  get: true,
  keys: true,
  severalUsers: null,
}

/**
 * Returns what a platform can do: a local academy everything, others what their OpenAPI document declares, or without
 * a document what their lists answer. Throws a NotOfferedError or a CommandError if it cannot take new records.
 */
export async function abilitiesOf(
  target: Target,
  caller: Caller,
  dataset: Dataset,
  document: JsonObject | null,
  signal: AbortSignal,
): Promise<Abilities> {
  const { batch, create, get, list, update } = dataset.operations
  if (target.kind === 'local') return { ...everything, batch: batch !== undefined }
  const has = (operation: Call | undefined) => operation !== undefined && publishes(document, operation)
  if (has(create) || has(list)) {
    if (!has(create)) throw lacking(target, `new ${dataset.noun}s`, create)
    return {
      batch: has(batch),
      find: update !== undefined && has(list),
      change: has(update),
      get: has(get),
      keys: document?.['x-idempotency'] === true,
      severalUsers: severalUsersIn(document, list),
    }
  }
  // Progress is set as a whole, so its other operations are not published.
  const none = { batch: false, find: false, change: false, get: false, keys: false, severalUsers: null }
  // Without a published operation that sets records, read the list to see whether it has any.
  const first = (update || !create.published) && (await firstOf(caller, list, create, signal))
  if (!update || first === null) return none
  const params = isJsonObject(first) ? dataset.operations.params(first) : null
  // An empty list has no record to change.
  const change = params === null || (await isOffered(caller, null, update, params, signal))
  return { ...none, find: true, change }
}

function severalUsersIn(document: JsonObject | null, list: Operation): Abilities['severalUsers'] {
  const lists = listParameters(document, list)
  for (const [parameter, filter] of Object.entries(list.filters ?? {})) {
    const isOfUsers = filter.by === 'reference' && filter.several === true && filter.email !== undefined
    if (isOfUsers && lists.includes(parameter)) return { parameter, field: filter.field }
  }
  return null
}

/** Throws a CommandError if rows would change records that cannot be looked up or changed. */
export function requireChange(
  { session }: Pick<Context, 'session'>,
  { noun, operations }: Dataset,
  { find, change }: Abilities,
  onExists: 'update' | 'skip',
): void {
  const { list, update } = operations
  if (update === undefined) return
  const platform = platformName(session.target())
  const lacks = ({ method, path }: Call) => [`It does not support ${method} ${path}; nothing was sent`]
  if (!find) {
    const message = `${platform} cannot look up ${noun}s, so existing ones cannot be recognised`
    const hint = 'Create a new record from each row: --on-exists fail'
    throw new CommandError('not_offered', 'failure', message, { why: lacks(list), hint })
  }
  if (onExists === 'skip' || change !== false) return
  throw new CommandError('not_offered', 'failure', `${platform} cannot change ${noun}s`, {
    why: lacks(update),
    hint: 'Leave existing ones as they are: --on-exists skip',
  })
}

/** Notes, before the first update, that only an attempt shows whether the platform can update records. */
export function changeNote(
  { io, session }: Pick<Context, 'io' | 'session'>,
  { operations: { update } }: Dataset,
  { change }: Abilities,
): () => Promise<void> {
  let noted: Promise<void> | null = update && change === null ? null : Promise.resolve()
  return () => {
    noted ??= note(
      io,
      unknownSupportNote(platformName(session.target()), [`${update?.method ?? ''} ${update?.path ?? ''}`]),
    )
    return noted
  }
}

/**
 * Returns the first record of a list: undefined if the list is empty, null if it cannot be read. Throws the fault if
 * neither the list nor `create` is offered, and any other fault.
 */
async function firstOf(caller: Caller, list: Call, create: Call, signal: AbortSignal): Promise<unknown> {
  try {
    const pages = caller.pages<Operation>(list, { signal })
    for await (const { data } of recordPages(caller, list, pages)) return data[0]
    return undefined
  } catch (error) {
    if (!(error instanceof NotOfferedError) || !create.published) throw error
    return null
  }
}

function lacking(target: Target, what: string, { method, path }: Call): CommandError {
  return new CommandError('not_offered', 'failure', `${platformName(target)} does not support ${what}`, {
    why: [`${method} ${path} is not in its OpenAPI document; nothing was sent`],
  })
}

export interface PlannedChange {
  readonly dataset: DatasetName
  readonly kind: 'create' | 'update' | 'delete'
  /** Record to send if its references are sent as files have them. */
  readonly record: JsonObject | null
  /** Existing record; null for a new one. */
  readonly current: JsonObject | null
}

/**
 * Returns the names of the datasets with batch requests. Throws a CommandError, before anything is sent, if the
 * platform lacks an operation that a plan needs or cannot resolve the courses that records name; notes operations
 * that only an attempt can confirm.
 */
export async function requireOffered(
  { io: { signal }, session, output }: Pick<Context, 'io' | 'session' | 'output'>,
  caller: Caller,
  changes: readonly PlannedChange[],
): Promise<ReadonlySet<DatasetName>> {
  const target = session.target()
  const local = target.kind === 'local'
  const document = local || changes.length === 0 ? null : await publishedApi(caller, signal)
  const batched = new Set<DatasetName>()
  const lacks: string[] = []
  const unknown: string[] = []
  const needed = new Map(changes.map((change) => [`${change.dataset} ${change.kind}`, change]))
  for (const { dataset, kind, current } of needed.values()) {
    const { noun, operations } = await loadDataset(dataset)
    const { batch, create, update, params } = operations
    if (batch && (local || publishes(document, batch))) batched.add(dataset)
    const operation = update ? operations[kind] : create
    if (local || !operation) continue
    const offered = await isOffered(caller, document, operation, params(current ?? {}), signal)
    const named = `${operation.method} ${operation.path}`
    if (offered === false) lacks.push(`It cannot ${kind} ${noun}s: ${named} is not supported`)
    if (offered === null) unknown.push(named)
  }
  const named = local || lacks.length > 0 ? undefined : namedCourse(changes)
  if (named !== undefined) {
    const understood = await understandsExternalIds(caller, document, signal)
    if (understood === false) lacks.push(`It does not find courses by their external ids, such as ${named}`)
    if (understood === null) unknown.push(`references such as ${named}`)
  }
  if (lacks.length > 0) {
    const message = `${platformName(target)} cannot apply these files`
    throw new CommandError('not_offered', 'failure', message, { why: [...lacks, 'Nothing was sent'] })
  }
  if (unknown.length > 0) await output.note(unknownSupportNote(platformName(target), unknown))
  return batched
}

/** Returns the first reference to a course that is not an id, such as `ext:BIO-101`; undefined if there is none. */
function namedCourse(changes: readonly PlannedChange[]): string | undefined {
  return changes
    .map(({ record }) => String(record?.['courseId'] ?? ''))
    .find((reference) => reference.startsWith('ext:'))
}

/**
 * Returns whether a platform resolves `ext:` references to courses: its OpenAPI document says so, or an existing
 * course is tried. Null if no course has an external id, or the platform shows no single course.
 */
async function understandsExternalIds(
  caller: Caller,
  document: JsonObject | null,
  signal: AbortSignal,
): Promise<boolean | null> {
  if (document && jsonText(document).includes('ext:<externalId>')) return true
  const { get, list } = calls.courses
  for await (const { data } of caller.pages<Operation>(list, { signal })) {
    const known = data.filter(isJsonObject).find(({ externalId }) => typeof externalId === 'string')
    if (!known) return null
    const shows = (courseId: string) => isShown(caller, encodePath(get.path, { courseId }), signal)
    if (await shows(`ext:${known['externalId']}`)) return true
    return (await shows(String(known['id']))) ? false : null
  }
  return null
}

/** True if the platform shows a record at this path; throws any fault that leaves that open. */
async function isShown(caller: Caller, path: string, signal: AbortSignal): Promise<boolean> {
  try {
    await discardBody(await caller.send({ method: 'GET', path, signal }))
    return true
  } catch (error) {
    if (error instanceof ApiError && [400, 404, 405, 422].includes(error.status)) return false
    throw error
  }
}
