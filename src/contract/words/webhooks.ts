import { below, recordWords, type Words } from './record.ts'

export const endpointInputWords = {
  '': 'The attributes of a webhook endpoint',
  url: 'Where events are sent: an https URL, or an http URL that the server allows',
  events:
    'What it subscribes to: events such as course.published, all events of a noun such as course.*, or * for all (default all)',
  description: 'What the endpoint is for',
  status: 'Whether events are sent to it',
  expiresAt: 'When the endpoint is deleted, null for never',
} satisfies Words

export const endpointPatchWords = {
  ...endpointInputWords,
  '': 'The attributes of a webhook endpoint that change',
} satisfies Words

export const endpointWords = {
  ...endpointInputWords,
  '': 'A webhook endpoint, without its secret',
  id: 'Id of the endpoint, whe_…',
  disabledReason: 'Why the server disabled it: gone if the receiver returned 410; null if it did not',
  pausedUntil: 'Until when nothing is sent, because the receiver asked for a pause; null if it is not paused',
  previousSecretUntil: 'Until when messages are also signed with the secret before; null if they are not',
  version: recordWords.version,
  createdAt: recordWords.createdAt,
  updatedAt: recordWords.updatedAt,
} satisfies Words

export const newEndpointWords = {
  ...endpointWords,
  '': 'A webhook endpoint with its new secret',
  secret: 'The signing secret, whsec_…. Shown only once: null in a replayed response',
} satisfies Words

export const messageWords = {
  '': 'A webhook message: one event for one endpoint',
  id: 'Id of the message, msg_…: the header webhook-id of each attempt',
  endpointId: 'Id of the endpoint',
  type: 'The event, such as course.published',
  subject: 'Id of the learner or course that it is about; messages about the same are sent in their order',
  status: 'Whether it was delivered, is still to be sent, or was given up',
  attemptCount: 'Number of attempts so far',
  lastResult: 'Result of the last attempt; null before the first one',
  nextAttemptAt:
    'When it is sent next; null while it is being sent, waits for an earlier one, or is finished',
  createdAt: 'When the event happened',
  finishedAt: 'When it was delivered or given up; null before that',
} satisfies Words

export const messageDetailsWords = {
  ...messageWords,
  '': 'A webhook message with its body and its last attempts',
  body: 'The body as it is sent, JSON with type, timestamp and data',
  ...below('attempts', {
    '': 'The last attempts, in their order',
    number: 'Number of the attempt, from 1',
    startedAt: 'When the attempt began',
    durationMs: 'How long it took, in milliseconds',
    status: 'HTTP status of the response; null if there was none',
    result: 'What came of it, in words',
    response: 'The beginning of the body of the response',
  }),
} satisfies Words
