import { isConfidential } from '../../client/base-url.ts'
import type { Command } from '../command/command.ts'
import { endpointFields, endpointFilters } from '../flags/webhooks.ts'
import { call } from '../operation/operation-command.ts'
import { updatedLine } from '../operation/thing-name.ts'
import { valueAt } from '../output/columns.ts'
import { testCommand } from './webhook-test.ts'

const contract = async () => (await import('../../contract/calls.ts')).calls.endpoints

const endpoint = { name: 'endpoint', summary: 'Id of the endpoint' }
const columns = ['url', 'status', 'id', 'events', 'pausedUntil', 'description']

const nameOf = (thing: unknown, given = '') => String(valueAt(thing, 'url') ?? given)

/** `learnctl webhooks endpoints …` */
export const commands: readonly Command[] = [
  call({
    name: 'endpoints list',
    summary: 'List webhook endpoints',
    operation: async () => (await contract()).list,
    query: endpointFilters,
    columns,
    examples: ['webhooks endpoints list', 'webhooks endpoints list --status disabled'],
  }),
  call({
    name: 'endpoints get',
    summary: 'Show a webhook endpoint',
    operation: async () => (await contract()).get,
    arguments: { endpointId: endpoint },
    columns,
    examples: ['webhooks endpoints get "$ENDPOINT_ID" -o json'],
  }),
  call({
    name: 'endpoints create',
    summary: 'Create a webhook endpoint (its secret is shown only once)',
    description:
      'Events are signed as Standard Webhooks 1.0.0 and sent while a server runs for the academy (`learnctl server start`).\nReceivers must have a public https address; a server on the loopback also sends to http on the loopback, and --webhook-allow\nof `server start` allows others.',
    operation: async () => (await contract()).create,
    fields: endpointFields,
    ifLost: 'delete the endpoint and create another',
    columns: ['url', 'events', 'id', 'secret'],
    notes: (answer) => {
      const url = valueAt(answer, 'url')
      if (typeof url !== 'string' || !URL.canParse(url) || isConfidential(url)) return null
      return `Plain http is sent only to hosts that the server allows: learnctl server start --webhook-allow ${new URL(url).hostname}`
    },
    examples: [
      'webhooks endpoints create --to https://lms.example.org/hooks --events course.*,progress.completed',
      'webhooks endpoints create --to https://lms.example.org/hooks -o json',
    ],
  }),
  call({
    name: 'endpoints update',
    summary: 'Update webhook endpoints',
    operation: async () => (await contract()).update,
    arguments: { endpointId: endpoint },
    several: 'webhook endpoints',
    fields: endpointFields,
    merge: true,
    versioned: true,
    columns,
    done: (answer, { arguments: { endpoint } }, unchanged) =>
      updatedLine('Updated', `webhook endpoint ${nameOf(answer, endpoint)}`, answer, unchanged),
    examples: [
      'webhooks endpoints update "$ENDPOINT_ID" --status active',
      'webhooks endpoints update "$ENDPOINT_ID" --events course.*',
    ],
  }),
  call({
    name: 'endpoints delete',
    summary: 'Delete webhook endpoints',
    operation: async () => (await contract()).delete,
    arguments: { endpointId: endpoint },
    several: 'webhook endpoints',
    destroys: {
      action: ({ arguments: { endpoint } }) => `delete webhook endpoint ${endpoint}`,
      read: async (look, { arguments: { endpoint = '' } }) =>
        look.one((await contract()).get, { endpointId: endpoint }),
      question: async (_, { arguments: { endpoint } }, found) => ({
        text: `Delete webhook endpoint ${nameOf(found, endpoint)}`,
        consequence: 'Messages that are not delivered yet are lost.',
      }),
      several: async () => ({ consequence: 'Messages that are not delivered yet are lost.' }),
    },
    done: (found, { arguments: { endpoint } }) => `Deleted webhook endpoint ${nameOf(found, endpoint)}`,
    examples: ['webhooks endpoints delete "$ENDPOINT_ID" --yes'],
  }),
  testCommand,
  call({
    name: 'endpoints rotate',
    summary: 'Replace the secret of a webhook endpoint (the new one is shown only once)',
    description: 'For 24 hours each message is signed with both secrets, so that receivers can change over.',
    operation: async () => (await contract()).rotate,
    arguments: { endpointId: endpoint },
    ifLost: 'rotate the secret again',
    columns: ['url', 'previousSecretUntil', 'id', 'secret'],
    examples: ['webhooks endpoints rotate "$ENDPOINT_ID" -o json'],
  }),
]
