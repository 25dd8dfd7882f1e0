import type { Command } from '../command/command.ts'
import { filters } from '../flags/grants.ts'
import { call } from '../operation/operation-command.ts'
import { thingName } from '../operation/thing-name.ts'

const contract = async () => (await import('../../contract/calls.ts')).calls.grants

/** `learnctl auth grants …` */
export const commands: readonly Command[] = [
  call({
    name: 'grants list',
    summary: 'List the applications that may act on your behalf',
    operation: async () => (await contract()).list,
    query: filters,
    columns: ['clientName', 'scopes', 'lastUsedAt', 'createdAt', 'expiresAt', 'id', 'clientId', 'userId'],
    examples: ['auth grants list', 'auth grants list --user email:admin@academy.local'],
  }),
  call({
    name: 'grants revoke',
    summary: 'Revoke grants and all their tokens',
    operation: async () => (await contract()).revoke,
    arguments: { grantId: { name: 'grant', summary: 'Id of the grant' } },
    several: 'grants',
    destroys: {
      action: ({ arguments: { grant } }) => `revoke grant ${grant}`,
      read: async (look, { arguments: { grant = '' } }) => look.find((await contract()).list, grant),
      question: async (_, { arguments: { grant } }, found) => ({
        text: `Revoke grant ${thingName(found, grant)}`,
        consequence: 'The application loses access at once.',
      }),
      several: async () => ({ consequence: 'The applications lose access at once.' }),
    },
    done: (found, { arguments: { grant } }) => `Revoked grant ${thingName(found, grant)}`,
    examples: ['auth grants revoke "$GRANT_ID" --yes'],
  }),
]
