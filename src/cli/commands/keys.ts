import type { JsonObject } from '../../codec/json-text.ts'
import type { NewKey } from '../../contract/keys.ts'
import type { Command } from '../command/command.ts'
import { keyFlags } from '../flags/access.ts'
import { call } from '../operation/operation-command.ts'
import { thingName } from '../operation/thing-name.ts'
import { recordCommands } from './record-commands.ts'

const contract = async () => (await import('../../contract/calls.ts')).calls.keys

const apiKey = recordCommands({
  operations: contract,
  argument: { name: 'key', summary: 'API key: id or name' },
  noun: 'API key',
  columns: ['name', 'last4', 'scopes', 'expiresAt', 'lastUsedAt', 'revokedAt', 'id', 'userEmail'],
  ...keyFlags,
  byName: {
    id: /^key_\w{20,}$/,
    counts: ({ revokedAt }) => revokedAt === null || revokedAt === undefined,
    apart: ({ last4, scopes, createdAt }) => `ends in ${last4}, ${scopes}, created ${createdAt}`,
  },
})

export const commands: readonly Command[] = [
  apiKey.list({ examples: ['keys list', 'keys list --user email:admin@academy.local'] }),
  call({
    name: 'create',
    summary: 'Create an API key (shown only once)',
    operation: async () => (await contract()).create,
    fields: keyFlags.fields,
    columns: ['name', 'scopes', 'expiresAt', 'id', 'key'],
    notes: (answer, { flags }) => {
      // Another platform's response may have another shape.
      const { expiresAt } = answer as Partial<NewKey>
      if (flags['expires-at'] !== undefined || typeof expiresAt !== 'string') return null
      return `The key expires on ${expiresAt.slice(0, 10)}; use --expires-at to set another time, or never`
    },
    exists: {
      name: (thing) => `API key ${thingName(thing)}`,
      find: async (context, caller, { name, userId }) => {
        const [{ itemNamed }, { calls }] = await Promise.all([
          import('../operation/find-named.ts'),
          import('../../contract/calls.ts'),
        ])
        const owner = userId ?? (await caller.call(calls.users.profile)).data.id
        const now = new Date(context.io.now()).toISOString()
        const counts = ({ revokedAt, expiresAt }: JsonObject) =>
          typeof revokedAt !== 'string' && !(typeof expiresAt === 'string' && expiresAt <= now)
        return itemNamed(
          { context, caller },
          calls.keys.list,
          { user_id: owner },
          (key) => key['name'] === name && counts(key),
        )
      },
    },
    ifLost: 'revoke the key and create another',
    examples: [
      'keys create --name ci --scopes read,write --expires-at 90d',
      'keys create --name export -o json',
      'keys create --name backup --if-not-exists',
    ],
  }),
  apiKey.revoke({
    consequence: 'Programs that use it lose access.',
    consequences: 'Programs that use them lose access.',
    examples: ['keys revoke "$KEY_ID" --yes', 'keys revoke ci --yes'],
  }),
]
