import type { Caller } from '../../client/caller.ts'
import { NotOfferedError } from '../../client/errors.ts'
import { platformName, type Target } from '../../config/target.ts'
import type { Call } from '../../contract/calls.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Dataset } from '../dataset/dataset.ts'
import { publishedApi, publishes } from '../operation/published-api.ts'
import { CommandError } from '../terminal/errors.ts'

/** What a platform can do with the records of a dataset, known before anything is sent. */
export interface Abilities {
  /** Many rows go in one request, each found by the server. */
  readonly batch: boolean
  /** Records can be looked up, and so be changed. */
  readonly find: boolean
  /** One record is shown by its reference; else lists are read for it. */
  readonly get: boolean
  /** A repeated POST with the same Idempotency-Key is answered as the first one was. */
  readonly keys: boolean
}

const everything: Abilities = { batch: true, find: true, get: true, keys: true }

/**
 * Finds out what a platform can do: a local academy everything, others what their OpenAPI document has; where there is
 * none, what their lists answer. Throws a NotOfferedError or a CommandError where it cannot take new records.
 */
export async function abilitiesOf(
  target: Target,
  caller: Caller,
  dataset: Dataset,
  signal: AbortSignal,
): Promise<Abilities> {
  const { batch, create, get, list, update } = dataset.operations
  if (target.kind === 'local') return { ...everything, batch: batch !== undefined }
  const document = await publishedApi(caller, signal)
  const has = (operation: Call | undefined) => operation !== undefined && publishes(document, operation)
  if (has(create) || has(list)) {
    if (!has(create)) throw lacking(target, `new ${dataset.noun}s`, create)
    return {
      batch: has(batch),
      find: has(list) && has(update),
      get: has(get),
      keys: document?.['x-idempotency'] === true,
    }
  }
  // Nothing else is published of progress, which is set as a whole.
  const find = update !== undefined && (await answers(caller, list, create, signal))
  return { batch: false, find, get: false, keys: false }
}

/** Throws a CommandError where rows are to change records that cannot be looked up. */
export function requireFind(target: Target, { noun, operations }: Dataset, { find }: Abilities): void {
  if (find || operations.update === undefined) return
  throw new CommandError(
    'not_offered',
    'failure',
    `${platformName(target)} cannot look up ${noun}s, so existing ones cannot be recognised`,
    {
      why: [`It does not support ${operations.list.method} ${operations.list.path}; nothing was sent`],
      hint: `Create a new record from each row: --on-exists fail`,
    },
  )
}

/** True where a list can be read. Throws the fault where neither it nor `create` is there, and any other. */
async function answers(caller: Caller, list: Call, create: Call, signal: AbortSignal): Promise<boolean> {
  try {
    for await (const _ of caller.pages<Operation>(list, { signal })) break
    return true
  } catch (error) {
    if (!(error instanceof NotOfferedError) || !create.published) throw error
    return false
  }
}

function lacking(target: Target, what: string, { method, path }: Call): CommandError {
  return new CommandError('not_offered', 'failure', `${platformName(target)} does not support ${what}`, {
    why: [`${method} ${path} is not in its OpenAPI document; nothing was sent`],
  })
}
