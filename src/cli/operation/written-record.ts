import type { AnyInput } from '../../client/call.ts'
import type { Caller } from '../../client/caller.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { calls } from '../../contract/calls.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Context } from '../command/context.ts'
import { changeBy, eraseFromJournals, hasJournals, idIn, nameIn, nounOf } from '../session/change-journal.ts'

/**
 * Reads the record of a call before it is written, if the call belongs to a change that is noted on this machine. Returns a
 * function that notes what the call did, given its answer; null if nothing is noted.
 */
export async function noteOf(
  { session }: Pick<Context, 'session'>,
  caller: Caller,
  operation: Operation,
  input: AnyInput,
): Promise<((answer: unknown) => Promise<void>) | null> {
  const change = session.change()
  if (!change || !(await change.isNoted())) return null
  const [group = ''] = operation.id.split('.')
  const noun = nounOf(group)
  const before = operation.method === 'POST' ? null : await readBefore(caller, group, input)
  return (answer) =>
    change.note(() => {
      const shown = isJsonObject(answer) ? answer : {}
      const named = before ?? shown
      const verb = operation.method === 'DELETE' ? 'deleted' : before ? 'updated' : 'created'
      const sent = isJsonObject(input.body) ? input.body : {}
      const values =
        verb === 'updated' && before
          ? changeBy(before, sent, answer)
          : { before: verb === 'deleted' ? before : null, after: verb === 'deleted' ? null : {} }
      // Without its former values a change cannot be taken back.
      const isKnown = operation.method === 'POST' || before !== null
      return { noun, verb, id: isKnown ? idIn(named) : null, name: nameIn(named), ...values }
    })
}

/**
 * Returns a function that removes a user who is deleted for good from the journals on this machine; null for any other
 * call.
 */
export async function erasureOf(
  { directories }: Pick<Context, 'directories'>,
  caller: Caller,
  { id }: Operation,
  input: AnyInput,
): Promise<(() => void) | null> {
  const isErasure = id === 'users.delete' && input.query?.['erase'] === true
  if (!isErasure || !hasJournals(directories.state)) return null
  const user = await readBefore(caller, 'users', input)
  const userId = idIn(user ?? {}) ?? String(input.params?.['userId'])
  const names = [user?.['email'], user?.['externalId'], user?.['username']].filter(
    (name): name is string => typeof name === 'string' && name !== '',
  )
  return () => eraseFromJournals(directories.state, userId, names)
}

async function readBefore(caller: Caller, group: string, { params }: AnyInput): Promise<JsonObject | null> {
  const operations: Readonly<Record<string, Operation>> | undefined = Object.hasOwn(calls, group)
    ? calls[group as keyof typeof calls]
    : undefined
  const get = operations?.['get']
  if (!get) return null
  try {
    const { data } = await caller.call<Operation>(get, { ...(params && { params }) })
    return isJsonObject(data) ? data : null
  } catch {
    // The platform may not show it.
    return null
  }
}
