import type { Command } from '../command/command.ts'
import { messageFilters } from '../flags/webhooks.ts'
import { call } from '../operation/operation-command.ts'

const contract = async () => (await import('../../contract/calls.ts')).calls.messages

const message = { name: 'message', summary: 'Id of the message' }
/** Status and reason come first, since a narrow terminal cuts the later columns. */
const columns = [
  ...['status', 'type', 'lastResult', 'attemptCount', 'nextAttemptAt', 'createdAt', 'id'],
  'endpointId',
]

/** `learnctl webhooks messages …` */
export const commands: readonly Command[] = [
  call({
    name: 'messages list',
    summary: 'List the events that were or will be sent to webhook endpoints',
    operation: async () => (await contract()).list,
    query: messageFilters,
    columns,
    examples: ['webhooks messages list --status failed', 'webhooks messages list --endpoint "$ENDPOINT_ID"'],
  }),
  call({
    name: 'messages get',
    summary: 'Show a webhook message with its attempts',
    operation: async () => (await contract()).get,
    arguments: { messageId: message },
    rows: {
      columns: ['number', 'startedAt', 'durationMs', 'result', 'response'],
      from: (answer) => (answer as { attempts?: readonly unknown[] }).attempts ?? [],
    },
    columns,
    notes: (answer) => {
      const { type, status, nextAttemptAt } = answer as Partial<Record<string, unknown>>
      const next = typeof nextAttemptAt === 'string' ? `; next attempt at ${nextAttemptAt}` : ''
      return typeof status === 'string' ? `${type} is ${status}${next}` : null
    },
    examples: ['webhooks messages get "$MESSAGE_ID"', 'webhooks messages get "$MESSAGE_ID" -o json'],
  }),
  call({
    name: 'messages replay',
    summary: 'Send webhook messages again',
    operation: async () => (await contract()).resend,
    arguments: { messageId: message },
    several: 'webhook messages',
    columns,
    done: (_, { arguments: { message } }) => `Queued message ${message}`,
    examples: [
      'webhooks messages replay "$MESSAGE_ID"',
      'webhooks messages list --status failed -q | learnctl webhooks messages replay --ids -',
    ],
  }),
]
