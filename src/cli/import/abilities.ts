import type { Caller } from '../../client/caller.ts'
import { NotOfferedError } from '../../client/errors.ts'
import { isOffered, listParameters, publishes } from '../../client/published-api.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-object.ts'
import { platformName, type Target } from '../../config/target.ts'
import type { Call } from '../../contract/calls.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Context } from '../command/context.ts'
import type { Dataset } from '../dataset/dataset.ts'
import { recordPages } from '../dataset/shown-records.ts'
import { untold } from '../operation/write-notes.ts'
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
      untold(platformName(session.target()), [`${update?.method ?? ''} ${update?.path ?? ''}`]),
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
