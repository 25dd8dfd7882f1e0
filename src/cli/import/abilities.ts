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

/** What a platform can do with the records of a dataset, known before anything is sent. */
export interface Abilities {
  /** Many rows go in one request, each found by the server. */
  readonly batch: boolean
  /** Records can be looked up. */
  readonly find: boolean
  /** They can be changed; null where that is known only when it is tried. */
  readonly change: boolean | null
  /** One record is shown by its reference; else lists are read for it. */
  readonly get: boolean
  /** A repeated POST with the same Idempotency-Key is answered as the first one was. */
  readonly keys: boolean
  /** The parameter of the list that takes several users, and the field of a record that it is about; null where none does. */
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
 * Finds out what a platform can do: a local academy everything, others what their OpenAPI document has; where there is
 * none, what their lists answer. Throws a NotOfferedError or a CommandError where it cannot take new records.
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
  // Nothing else is published of progress, which is set as a whole.
  const none = { batch: false, find: false, change: false, get: false, keys: false, severalUsers: null }
  // Where records are not set by a published operation, the list tells whether there are any such.
  const first = (update || !create.published) && (await firstOf(caller, list, create, signal))
  if (!update || first === null) return none
  const params = isJsonObject(first) ? dataset.operations.params(first) : null
  // Where there is no record yet, there is none to change.
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

/** Throws a CommandError where rows are to change records that cannot be looked up or changed. */
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

/** Notes, before the first record is changed, that only trying tells whether the platform can do that. */
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
 * The first record of a list, undefined where it is empty; null where it cannot be read. Throws the fault where neither it
 * nor `create` is there, and any other.
 */
async function firstOf(caller: Caller, list: Call, create: Call, signal: AbortSignal): Promise<unknown> {
  try {
    const pages = caller.pages<Operation>(list, { handling: 'strict', signal })
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
