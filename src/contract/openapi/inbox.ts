import { lmsKinds } from '../constants.ts'
import { everyHeader, headersOf } from './headers.ts'
import { refusalsWith } from './responses.ts'

type Json = Readonly<Record<string, unknown>>

const outcome = (description: string, schema: Json) => ({
  description,
  headers: headersOf(everyHeader),
  content: { 'application/json': { schema } },
})

const id = { type: 'string', maxLength: 64, description: 'Id of the delivery, whd_…' }

/** In the OpenAPI document only: clients do not call it. */
export const inboxPath: Json = {
  '/webhooks/{lmsKind}/grades': {
    post: {
      operationId: 'deliveries.receive',
      summary: 'Receive a grade or progress from another system',
      description:
        'Each kind of system proves who it is as it does elsewhere: Canvas with a signed JWT, Moodle with the secret in the body, Open edX with `?token=` or Basic credentials, Thinkific with an HMAC of the body. Every kind also takes the headers of [Standard Webhooks](https://www.standardwebhooks.com). No credential of this API is needed. A body has up to 256 KiB. The same delivery again is a `duplicate`, an older one than what is stored is `stale`; both are 200, so that a sender does not try again. A server keeps 200,000 deliveries of one kind a day, and 64 MiB of their payloads; beyond that the response is 429 with `Retry-After`.',
      tags: ['deliveries'],
      'x-published': true,
      security: [],
      parameters: [
        {
          name: 'lmsKind',
          in: 'path',
          required: true,
          description: 'Kind of the system that sends',
          schema: { type: 'string', enum: [...lmsKinds] },
          example: 'moodle',
        },
      ],
      requestBody: {
        required: true,
        description: 'The payload as the system sends it',
        content: {
          'application/json': { schema: {} },
          'application/jwt': { schema: { type: 'string', maxLength: 262_144 } },
          'text/plain': { schema: { type: 'string', maxLength: 262_144 } },
        },
      },
      responses: {
        200: outcome('Applied, or nothing to do', {
          type: 'object',
          description: 'Outcome of the delivery',
          required: ['status', 'deliveryId'],
          properties: {
            status: {
              type: 'string',
              enum: ['applied', 'duplicate', 'stale', 'ignored'],
              description: 'Outcome of the delivery',
            },
            deliveryId: id,
            grade: {
              description: 'The grade that was set; null for progress',
              oneOf: [{ $ref: '#/components/schemas/Grade' }, { type: 'null' }],
            },
            progress: {
              description: 'The progress that was recorded; null if none was',
              oneOf: [{ $ref: '#/components/schemas/Progress' }, { type: 'null' }],
            },
            reason: { type: 'string', maxLength: 64, description: 'Why it was ignored, in one word' },
          },
        }),
        202: outcome('Stored, but not applied: it can be processed again', {
          type: 'object',
          description: 'Outcome of the delivery',
          required: ['status', 'deliveryId'],
          properties: {
            status: { type: 'string', enum: ['unmatched', 'failed'], description: 'Outcome of the delivery' },
            deliveryId: id,
            missing: {
              type: 'array',
              maxItems: 3,
              description: 'What is missing for an unmatched delivery',
              items: { type: 'string', enum: ['course', 'learner', 'enrollment'] },
            },
            reason: { type: 'string', maxLength: 64, description: 'Why it failed, in one word' },
          },
        }),
        ...refusalsWith([400, 401, 404, 408, 413, 414, 415, 421, 429, 431, 500, 503]),
      },
    },
  },
}
