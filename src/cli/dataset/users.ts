import { calls } from '../../contract/calls.ts'
import { UserInput } from '../../contract/users.ts'
import { columnsOf } from './column.ts'
import type { Dataset } from './dataset.ts'
import { ofFields, withoutOwnId } from './record.ts'
import { byExternalId } from './shown-records.ts'

const { list, get, create, update, batch } = calls.users

/** Users, matched by external id, else by e-mail address. */
export const users: Dataset = {
  name: 'users',
  noun: 'user',
  schema: UserInput,
  columns: columnsOf(UserInput),
  keys: [['externalId'], ['email']],
  unique: ['email', 'username'],
  references: {},
  operations: {
    list,
    get,
    create,
    update,
    delete: calls.users.delete,
    batch,
    params: ({ id }) => ({ userId: String(id) }),
  },
  find: ({ externalId, email }) => {
    const known = byExternalId('userId', { include_deleted: 'true' })({ externalId })
    if (known) return known
    const address = String(email).toLowerCase()
    return {
      reference: { userId: `email:${email}` },
      query: { email: address },
      matches: (shown) => String(shown['email']).toLowerCase() === address,
    }
  },
  toRecord: async (shown) => ofFields(UserInput, shown),
  toBody: async (record, current) => withoutOwnId(record, current),
}
