import * as z from 'zod'
import { choices, Instant, period, Time } from './field.ts'
import { inPeriod } from './filter.ts'
import { lmsKinds } from './integration-choices.ts'
import { admins, operation } from './operation.ts'
import { page, paging } from './page.ts'

/** What can become of a delivery. */
export const deliveryStatuses = ['applied', 'stale', 'ignored', 'unmatched', 'failed'] as const
export const DeliveryStatus = z.enum(deliveryStatuses)
export type DeliveryStatus = z.output<typeof DeliveryStatus>

const missingThings = ['course', 'learner', 'enrollment'] as const

/** An authentic delivery of another system, and what became of it. */
export const Delivery = z.object({
  id: z.string(),
  lmsKind: z.string(),
  event: z.string(),
  status: DeliveryStatus,
  reason: z.string().nullable(),
  detail: z.string().nullable(),
  missing: z.array(z.enum(missingThings)),
  learnerId: z.string().nullable(),
  userEmail: z.string().nullable(),
  courseId: z.string().nullable(),
  courseTitle: z.string().nullable(),
  itemId: z.string().nullable(),
  gradeId: z.string().nullable(),
  deliveryKey: z.string(),
  replays: z.int(),
  receivedAt: Time,
  processedAt: Time,
})
export type Delivery = z.output<typeof Delivery>

export const DeliveryDetails = Delivery.extend({ body: z.string().nullable() })
export type DeliveryDetails = z.output<typeof DeliveryDetails>

/** Which deliveries are processed again, a page of them at a time. */
export const ReplayInput = z.strictObject({
  lmsKind: z.enum(lmsKinds).nullable().default(null),
  limit: z.int().min(1).max(100).default(100),
  cursor: z.string().max(512).nullable().default(null),
})

export const Replayed = z.object({ data: z.array(Delivery), nextCursor: z.string().nullable() })
export type Replayed = z.output<typeof Replayed>

/** Deliveries that came from other systems, for admins. */
export const deliveries = {
  list: operation({
    id: 'deliveries.list',
    method: 'GET',
    path: '/v1/webhooks/deliveries',
    summary: 'List webhook deliveries',
    published: false,
    scope: 'admin',
    roles: admins,
    query: z.strictObject({
      lms_kind: choices(lmsKinds).optional(),
      status: choices(deliveryStatuses).optional(),
      ...period('Received'),
      received_since: Instant.optional().meta({ description: 'The former name of since' }),
      ...paging,
    }),
    response: page(Delivery),
    status: 200,
    list: true,
    filters: {
      lms_kind: { by: 'choice', field: 'lmsKind', choices: lmsKinds },
      status: { by: 'choice', field: 'status', choices: deliveryStatuses },
      ...inPeriod('receivedAt'),
      received_since: { by: 'start', field: 'receivedAt' },
    },
  }),
  get: operation({
    id: 'deliveries.get',
    method: 'GET',
    path: '/v1/webhooks/deliveries/{deliveryId}',
    summary: 'Show a webhook delivery with its payload',
    published: false,
    scope: 'admin',
    roles: admins,
    response: DeliveryDetails,
    status: 200,
  }),
  replay: operation({
    id: 'deliveries.replay',
    method: 'POST',
    path: '/v1/webhooks/deliveries/{deliveryId}/replay',
    summary: 'Process a webhook delivery again',
    published: false,
    scope: 'admin',
    roles: admins,
    response: Delivery,
    status: 200,
  }),
  replayAll: operation({
    id: 'deliveries.replayAll',
    method: 'POST',
    path: '/v1/webhooks/deliveries/replay',
    summary: 'Process up to 100 unmatched webhook deliveries again',
    published: false,
    scope: 'admin',
    roles: admins,
    body: ReplayInput,
    response: Replayed,
    report: true,
    status: 200,
  }),
}
