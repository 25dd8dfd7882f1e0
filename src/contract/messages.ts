import * as z from 'zod'
import { messageTypes } from './actions.ts'
import { field, named, shown } from './fields.ts'
import { choiceOf, exactly, listOf, paging, period } from './lists.ts'
import { operationsOf } from './operation.ts'
import { textOrNull, timeOrNull } from './record-fields.ts'
import { Time } from './values.ts'

const messageStatuses = ['pending', 'delivered', 'failed'] as const
export const MessageStatus = named(
  'MessageStatus',
  'pending, delivered or failed: a failed message is not attempted again',
  z.enum(messageStatuses),
)

function shownFields() {
  return {
    id: field(z.string(), 'Id of the message, msg_…: the header webhook-id of each attempt'),
    endpointId: field(z.string(), 'Id of the endpoint'),
    type: field(z.string(), 'The event, such as course.published'),
    subject: field(
      z.string(),
      'Id of the learner or course that it is about; messages about the same subject are sent in order',
    ),
    status: field(MessageStatus, 'pending, delivered or failed: a failed message is not attempted again'),
    attemptCount: field(z.int(), 'Number of attempts so far'),
    lastResult: textOrNull('Result of the last attempt; null before the first one'),
    nextAttemptAt: timeOrNull(
      'When it is sent next; null while it is being sent, waits for an earlier one, or is finished',
    ),
    createdAt: field(Time, 'When the event happened'),
    finishedAt: timeOrNull('When it was delivered or failed; null while it is pending'),
  }
}

export const Message = named('Message', 'A webhook message: one event for one endpoint', shown(shownFields))
export type Message = z.output<typeof Message>

export const Attempt = shown(() => ({
  number: field(z.int(), 'Number of the attempt, from 1'),
  startedAt: field(Time, 'When the attempt began'),
  durationMs: field(z.int(), 'How long it took, in milliseconds'),
  status: field(z.int().nullable(), 'HTTP status of the response; null if there was none'),
  result: field(z.string(), 'What came of it, in words'),
  response: field(z.string(), 'The beginning of the body of the response'),
}))
export type Attempt = z.output<typeof Attempt>

export const MessageDetails = named(
  'MessageDetails',
  'A webhook message with its body and its last attempts',
  shown(() => ({
    ...shownFields(),
    body: field(z.string(), 'The body as it is sent, JSON with type, timestamp and data'),
    attempts: field(z.array(Attempt), 'The last attempts, in their order'),
  })),
)
export type MessageDetails = z.output<typeof MessageDetails>

export const messages = operationsOf('messages', {
  list: {
    at: 'GET /v1/webhooks/messages',
    summary: 'List webhook messages',
    scope: 'admin',
    query: z.strictObject({
      endpoint_id: exactly('endpoint', 'endpointId'),
      status: choiceOf('status', messageStatuses),
      type: choiceOf('type', messageTypes),
      ...period('Created', 'createdAt'),
      ...paging,
    }),
    ...listOf(Message, 'webhook messages'),
  },
  get: {
    at: 'GET /v1/webhooks/messages/{messageId}',
    summary: 'Show a webhook message with its attempts',
    scope: 'admin',
    response: MessageDetails,
  },
  resend: {
    at: 'POST /v1/webhooks/messages/{messageId}/resend',
    summary: 'Send a webhook message again',
    scope: 'admin',
    response: Message,
    status: 200,
  },
})
