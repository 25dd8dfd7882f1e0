import type { Caller } from '../../client/caller.ts'
import { NotOfferedError } from '../../client/errors.ts'
import { platformName } from '../../config/target.ts'
import type { Call } from '../../contract/calls.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Context } from '../command/context.ts'
import type { Dataset } from '../dataset/dataset.ts'
import { isLearnctlServer } from '../session/learnctl-server.ts'
import { CommandError } from '../terminal/errors.ts'

/** Operations that a platform offers for the records of a dataset, known before anything is sent. */
export interface Abilities {
  /** True if one request takes many rows and the server matches each by its key. */
  readonly batch: boolean
  readonly find: boolean
  /** True for a server of this API: it finds a record by its reference, and repeats its answer to an Idempotency-Key. */
  readonly keys: boolean
  /** List parameter that takes several users, and the field of a record that holds the user; null if there is none. */
  readonly severalUsers: { readonly parameter: string; readonly field: string } | null
}

/** Returns what a platform can do: a learnctl server everything, another one what its list answers. */
export async function abilitiesOf(
  { session, io: { signal } }: Pick<Context, 'session' | 'io'>,
  caller: Caller,
  dataset: Dataset,
): Promise<Abilities> {
  const { batch, list, update } = dataset.operations
  if (await isLearnctlServer(caller, signal)) {
    const isLocal = session.target().kind === 'local'
    return {
      batch: batch !== undefined,
      find: true,
      keys: true,
      severalUsers: isLocal ? null : severalUsersIn(list),
    }
  }
  const find = update !== undefined && (await isListed(caller, list, signal))
  return { batch: false, find, keys: false, severalUsers: null }
}

function severalUsersIn(list: Operation): Abilities['severalUsers'] {
  for (const [parameter, filter] of Object.entries(list.filters ?? {})) {
    const isOfUsers = filter.by === 'reference' && filter.several === true && filter.email !== undefined
    if (isOfUsers) return { parameter, field: filter.field }
  }
  return null
}

async function isListed(caller: Caller, list: Call, signal: AbortSignal): Promise<boolean> {
  try {
    for await (const _ of caller.pages<Operation>(list, { signal })) return true
    return true
  } catch (error) {
    if (error instanceof NotOfferedError) return false
    throw error
  }
}

/** Throws a CommandError if rows would change records that cannot be looked up. */
export function requireFind(
  { session }: Pick<Context, 'session'>,
  { noun, operations: { list, update } }: Dataset,
  { find }: Abilities,
): void {
  if (update === undefined || find) return
  const message = `${platformName(session.target())} cannot look up ${noun}s, so existing ones cannot be recognised`
  throw new CommandError('not_offered', 'failure', message, {
    why: [`It does not support ${list.method} ${list.path}; nothing was sent`],
    hint: 'Create a new record from each row: --on-exists fail',
  })
}
