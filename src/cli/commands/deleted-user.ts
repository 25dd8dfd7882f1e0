import { ApiError } from '../../client/errors.ts'
import { isJsonObject } from '../../codec/json-object.ts'
import { shellWord } from '../../codec/shell-word.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Find, Finding } from '../operation/operation-spec.ts'
import { thingName } from '../operation/thing-name.ts'
import { CommandError } from '../terminal/errors.ts'

/**
 * Finds a deleted user by id, external id or email address. A bare address matches only users who are not deleted.
 * Throws a CommandError for a user who is not deleted.
 */
export function deletedUser({ context, caller }: Finding): Find {
  const { signal } = context.io
  return async ({ arguments: { user = '' } }) => {
    const { users } = (await import('../../contract/calls.ts')).calls
    const address = user.startsWith('email:') ? user.slice(6) : user.includes('@') ? user : null
    const shown = (await byReference()) ?? (address === null ? null : await byAddress(address))
    if (shown === null) return user
    const { id, status } = shown
    if (status === 'deleted' || status === undefined) return String(id)
    const suspended =
      status === 'suspended' ? { hint: `To activate: learnctl users activate ${shellWord(user)}` } : {}
    throw new CommandError('not_deleted', 'conflict', `User ${thingName(shown, user)} is not deleted`, {
      why: [`The status is ${String(status)}`],
      ...suspended,
    })

    async function byReference() {
      try {
        const { data } = await caller.call(users.get, { params: { userId: user }, signal })
        const thing: unknown = data
        return isJsonObject(thing) && thing['id'] !== undefined ? thing : null
      } catch (error) {
        if (error instanceof ApiError && error.status === 404 && address !== null) return null
        throw error
      }
    }

    async function byAddress(email: string) {
      const operation: Operation = users.list
      const query = { email, status: 'deleted' }
      for await (const { data } of caller.pages(operation, { query, signal })) {
        const same = (each: unknown) => String(each).toLowerCase() === email.toLowerCase()
        const found = data.filter(isJsonObject).find((each) => same(each['email']))
        if (found) return found
      }
      return null
    }
  }
}
