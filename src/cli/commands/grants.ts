import type { grants } from '../../contract/grants.ts'
import type { QueryInput } from '../../contract/operation.ts'
import type { Command } from '../command/command.ts'
import type { QueryFlags } from '../command/flag.ts'
import { call } from '../operation/operation-command.ts'

const contract = async () => (await import('../../contract/grants.ts')).grants

/** `learnctl auth grants …` */
export const commands: readonly Command[] = [
  call({
    name: 'grants list',
    summary: 'List what you have allowed applications to do',
    operation: async () => (await contract()).list,
    query: {
      user_id: {
        name: 'user',
        summary: 'Of this user instead: id, ext:<your own id>, or email:<address>; for admins',
      },
    } satisfies QueryFlags<QueryInput<typeof grants.list>>,
    columns: ['clientName', 'scopes', 'lastUsedAt', 'createdAt', 'expiresAt', 'id', 'clientId', 'userId'],
    examples: ['auth grants list', 'auth grants list --user email:admin@academy.local'],
  }),
  call({
    name: 'grants revoke',
    summary: 'Take back what an application was allowed: its tokens end at once',
    operation: async () => (await contract()).revoke,
    arguments: { grantId: { name: 'grant', summary: 'Id of the grant' } },
    destructive: ({ grant }) => `revoke grant ${grant}`,
    done: ({ grant }) => `revoked grant ${grant}`,
    examples: ['auth grants revoke "$GRANT_ID" --yes'],
  }),
]
