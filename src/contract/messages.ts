import * as z from 'zod'
import { messageTypes } from './events.ts'
import { choices, exactly, period, Time } from './field.ts'
import { inPeriod } from './filter.ts'
import { admins, operation } from './operation.ts'
import { page, paging } from './page.ts'

const messageStatuses = ['pending', 'delivered', 'failed'] as const
export const MessageStatus = z.enum(messageStatuses)

/** One event for one endpoint. */
export const Message = z.object({
  id: z.string(),
  endpointId: z.string(),
  type: z.string(),
  subject: z.string(),
  status: MessageStatus,
  attemptCount: z.int(),
  lastResult: z.string().nullable(),
  nextAttemptAt: Time.nullable(),
  createdAt: Time,
  finishedAt: Time.nullable(),
})
export type Message = z.output<typeof Message>

/** One attempt to deliver a message; `status` is that of HTTP, null where no response came. */
export const Attempt = z.object({
  number: z.int(),
  startedAt: Time,
  durationMs: z.int(),
  status: z.int().nullable(),
  result: z.string(),
  response: z.string(),
})
export type Attempt = z.output<typeof Attempt>

export const MessageDetails = Message.extend({ body: z.string(), attempts: z.array(Attempt) })
export type MessageDetails = z.output<typeof MessageDetails>

/** Events on their way to endpoints, for admins. */
export const messages = {
  list: operation({
    id: 'messages.list',
    method: 'GET',
    path: '/v1/webhooks/messages',
    summary: 'List webhook messages',
    published: false,
    scope: 'admin',
    roles: admins,
    query: z.strictObject({
      endpoint_id: exactly('endpoint'),
      status: choices(messageStatuses).optional(),
      type: choices(messageTypes).optional(),
      ...period('Created'),
      ...paging,
    }),
    response: page(Message),
    status: 200,
    list: true,
    filters: {
      endpoint_id: { by: 'equal', field: 'endpointId' },
      status: { by: 'choice', field: 'status', choices: messageStatuses },
      type: { by: 'choice', field: 'type', choices: messageTypes },
      ...inPeriod('createdAt'),
    },
  }),
  get: operation({
    id: 'messages.get',
    method: 'GET',
    path: '/v1/webhooks/messages/{messageId}',
    summary: 'Show a webhook message with its attempts',
    published: false,
    scope: 'admin',
    roles: admins,
    response: MessageDetails,
    status: 200,
  }),
  resend: operation({
    id: 'messages.resend',
    method: 'POST',
    path: '/v1/webhooks/messages/{messageId}/resend',
    summary: 'Send a webhook message again',
    published: false,
    scope: 'admin',
    roles: admins,
    response: Message,
    status: 200,
  }),
}
