import * as z from 'zod'
import { lmsKinds } from './constants.ts'
import { field, named, sent, shown } from './fields.ts'
import { choiceOf, filtering, listOf, paging, period } from './lists.ts'
import { operationsOf } from './operation.ts'
import { textOrNull } from './record-fields.ts'
import { Instant, Time } from './values.ts'

export const deliveryStatuses = ['applied', 'stale', 'ignored', 'unmatched', 'failed'] as const
export const DeliveryStatus = named(
  'DeliveryStatus',
  'Outcome of a webhook delivery',
  z.enum(deliveryStatuses),
)
export type DeliveryStatus = z.output<typeof DeliveryStatus>

const missingThings = ['course', 'learner', 'enrollment'] as const

function shownFields() {
  return {
    id: field(z.string(), 'Id of the delivery, whd_…'),
    lmsKind: field(z.string(), 'Kind of the system that sent it'),
    event: field(
      z.string(),
      'Name of the event in that system, such as grade_change; empty if it cannot be read',
    ),
    status: field(
      DeliveryStatus,
      'applied; stale: newer data was stored already; ignored: nothing to do; unmatched: the course, learner or enrolment is unknown here; failed: it cannot be applied',
    ),
    reason: textOrNull('Why it was not applied, in one word; null if it was'),
    detail: textOrNull('The same as a sentence; null if there is nothing to add'),
    missing: field(
      z.array(z.enum(missingThings)),
      'What is missing for an unmatched delivery: course, learner or enrollment',
    ),
    learnerId: textOrNull('Id of the learner; null if unknown here'),
    userEmail: textOrNull('E-mail address of the learner as it is now'),
    courseId: textOrNull('Id of the course; null if unknown here'),
    courseTitle: textOrNull('Title of the course as it is now'),
    itemId: textOrNull('The graded item; null for progress'),
    gradeId: textOrNull('Id of the grade that it set; null for any other'),
    deliveryKey: field(
      z.string(),
      'Identifies the delivery among all of its kind: sent again, it is a duplicate',
    ),
    replays: field(z.int(), 'Number of times it was processed again'),
    receivedAt: field(Time, 'When it was received'),
    processedAt: field(Time, 'When it was last processed'),
  }
}

/** An authentic delivery, and its outcome. */
export const Delivery = named(
  'Delivery',
  'A webhook delivery of another system, and its outcome',
  shown(shownFields),
)
export type Delivery = z.output<typeof Delivery>

export const DeliveryDetails = named(
  'DeliveryDetails',
  'A webhook delivery with its payload',
  shown(() => ({
    ...shownFields(),
    body: textOrNull('The payload as JSON, without secrets; null if it is no longer stored'),
  })),
)
export type DeliveryDetails = z.output<typeof DeliveryDetails>

export const ReplayInput = named(
  'ReplayInput',
  'Which unmatched deliveries to process again',
  sent({
    lmsKind: field(
      z.enum(lmsKinds).nullable().default(null),
      'Kind of the system that sent them; null for all',
    ),
    limit: field(z.int().min(1).max(100).default(100), 'Maximum number to process'),
    cursor: field(
      z.string().max(512).nullable().default(null),
      'The nextCursor of the previous response; null to begin with the first received',
    ),
  }),
)

export const Replayed = named(
  'Replayed',
  'The deliveries that were processed again, with the outcome of each',
  shown(() => ({
    data: field(z.array(Delivery), 'The deliveries, system by system, oldest first'),
    nextCursor: textOrNull('Send it as cursor to continue; null if there are no more'),
  })),
)
export type Replayed = z.output<typeof Replayed>

export const deliveries = operationsOf('deliveries', {
  list: {
    at: 'GET /v1/webhooks/deliveries',
    summary: 'List webhook deliveries',
    scope: 'admin',
    query: z.strictObject({
      lms_kind: choiceOf('lmsKind', lmsKinds),
      status: choiceOf('status', deliveryStatuses),
      ...period('Received', 'receivedAt'),
      received_since: filtering(Instant.optional().meta({ description: 'The former name of since' }), {
        by: 'start',
        field: 'receivedAt',
      }),
      ...paging,
    }),
    ...listOf(Delivery, 'webhook deliveries'),
  },
  get: {
    at: 'GET /v1/webhooks/deliveries/{deliveryId}',
    summary: 'Show a webhook delivery with its payload',
    scope: 'admin',
    response: DeliveryDetails,
  },
  replay: {
    at: 'POST /v1/webhooks/deliveries/{deliveryId}/replay',
    summary: 'Process a webhook delivery again',
    scope: 'admin',
    response: Delivery,
    status: 200,
  },
  replayAll: {
    at: 'POST /v1/webhooks/deliveries/replay',
    summary: 'Process up to 100 unmatched webhook deliveries again',
    scope: 'admin',
    body: ReplayInput,
    response: Replayed,
    report: true,
    status: 200,
  },
})
