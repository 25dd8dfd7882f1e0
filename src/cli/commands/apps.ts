import { valueAt } from '../../tables/column.ts'
import type { Command } from '../command/command.ts'
import { appFlags } from '../flags/access.ts'
import { call } from '../operation/operation-command.ts'
import { thingName } from '../operation/thing-name.ts'
import { recordCommands } from './record-commands.ts'

const contract = async () => (await import('../../contract/calls.ts')).calls.apps

const columns = ['name', 'redirectUris', 'public', 'machineScopes', 'clientId']

const app = recordCommands({
  operations: contract,
  argument: { name: 'app', summary: 'Application: client id or name' },
  parameter: 'clientId',
  noun: 'application',
  columns: ['name', 'public', 'redirectUris', 'machineScopes', 'createdAt', 'clientId'],
  ...appFlags,
  byName: { id: /^app_\w{20,}$/, apart: ({ createdAt }) => `created ${createdAt}` },
})

export const commands: readonly Command[] = [
  app.list({ summary: 'List OAuth applications', examples: ['apps list'] }),
  call({
    name: 'create',
    summary: 'Register an OAuth application (its secret is shown only once)',
    description:
      'A redirect URI is an https URI, an http URI on 127.0.0.1, [::1] or localhost, or, for a public application, a\nprivate-use scheme such as com.example.app:/callback. It must match exactly, except for the port on 127.0.0.1\nand [::1].\n\nAn application with machine scopes acts for itself, without a user: it gets tokens by its client id and secret, and\nreads the academy over OneRoster. It needs no redirect URI.',
    operation: async () => (await contract()).create,
    fields: appFlags.fields,
    exists: {
      name: (thing) => `application ${thingName(thing)}`,
      find: async (context, caller, { name }) => {
        const { itemNamed } = await import('../operation/find-named.ts')
        return itemNamed({ context, caller }, (await contract()).list, {}, (app) => app['name'] === name)
      },
    },
    secretUnless: 'public',
    ifLost: 'delete the application and register another',
    columns: [...columns, 'clientSecret'],
    done: (answer) => `Registered application ${thingName(answer)}`,
    examples: [
      'apps create --name Reports --redirect-uri https://reports.example.org/callback -o json',
      'apps create --name "Desk app" --redirect-uri http://127.0.0.1/callback --public -q',
      'apps create --name "Google Classroom" --machine-scopes roster.readonly,gradebook.readonly -o json',
    ],
  }),
  app.delete({
    summary: 'Delete OAuth applications with their grants and tokens',
    destroys: {
      question: async (_, { arguments: { app } }, found) => ({
        text: `Delete application ${thingName(found, app)}`,
        consequence: 'Its grants and tokens are revoked. This cannot be undone.',
        typed: String(valueAt(found, 'name') ?? app),
      }),
      several: async () => ({
        consequence: 'Their grants and tokens are revoked. This cannot be undone.',
        irreversible: true,
      }),
    },
    examples: ['apps delete "$CLIENT_ID" --yes'],
  }),
]
