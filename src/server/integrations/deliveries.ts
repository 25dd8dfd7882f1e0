import sql, { join } from 'sql-template-tag'
import { type JsonObject, parseJson } from '../../codec/json-text.ts'
import { calls } from '../../contract/calls.ts'
import type { LmsKind } from '../../contract/constants.ts'
import {
  type Delivery,
  type DeliveryDetails,
  deliveries,
  type Replayed,
  ReplayInput,
} from '../../contract/deliveries.ts'
import { DeliveryFault } from '../../lms/delivery.ts'
import { recordChange } from '../changes/change.ts'
import type { Database, Row } from '../database/database.ts'
import { during, page } from '../database/page.ts'
import { recordReader } from '../database/record.ts'
import type { Call } from '../http/handler.ts'
import { parseBody, routesOf } from '../http/schema-routes.ts'
import { notFound } from '../problem-error.ts'
import { mayNeedBody, noEffect, type Outcome, readEventOrFault } from './apply-event.ts'
import { type Integration, integrationOf } from './integration.ts'
import { deliverySubjectOf, itemOf, outcomeOf } from './receive-delivery.ts'

const toDelivery = recordReader<Delivery>(calls.deliveries.list, ['missing'])
const toDetails = recordReader<DeliveryDetails>(calls.deliveries.get, ['missing'])

export const deliveryRoutes = routesOf(deliveries, {
  list: ({ database, query }) =>
    page<DeliveryRow, Delivery>(
      database,
      {
        columns: deliveryColumns,
        from: sql`webhook_deliveries d`,
        within: [
          { field: 'receivedAt', condition: during(sql`d.received_at`, query) },
          { field: 'receivedAt', condition: during(sql`d.received_at`, { since: query.received_since }) },
        ],
        where: [
          query.lms_kind && sql`d.lms_kind in (${join(query.lms_kind)})`,
          query.status && sql`d.status in (${join(query.status)})`,
        ],
      },
      { sort: '-receivedAt', expressions: { receivedAt: sql`d.received_at` }, id: sql`d.id` },
      query,
      toDelivery,
    ),

  get: async ({ database, params }) => toDetails(await findDelivery(database, params.deliveryId)),

  replay: async (call) => replayOne(call, await findDelivery(call.database, call.params.deliveryId)),

  replayAll: (call) => replayUnmatched(call, parseBody(ReplayInput, call.rawBody)),
})

/**
 * Applies a delivery again with the current integration, by the same rules: an applied one stays unchanged,
 * and an older grade does not replace a newer one.
 */
async function replayOne(call: Call, row: DeliveryRow): Promise<Delivery> {
  const { database, now } = call
  if (row.status === 'applied' || row.body === null) return toDelivery(row)
  const integration = await integrationOf(database, row.lms_kind)
  const { outcome, event } = integration
    ? await applyAgain(call, integration, row, row.body)
    : {
        outcome: { ...noEffect, status: 'failed', reason: 'not_configured' } satisfies Outcome,
        event: undefined,
      }
  const body = mayNeedBody(outcome) ? row.body : null
  const { userId, hint } = await deliverySubjectOf(database, row.lms_kind, payloadOf(row.body), outcome)
  await database.run(sql`
    update webhook_deliveries set
      status = ${outcome.status}, reason = ${outcome.reason}, detail = ${outcome.detail},
      missing = ${JSON.stringify(outcome.missing)}, user_id = ${userId}, course_id = ${outcome.courseId},
      item_id = ${itemOf(event)}, grade_id = ${outcome.grade?.id ?? null}, learner_hint = ${hint},
      body = ${body}, replays = replays + 1, processed_at = ${now}
    where id = ${row.id}`)
  const [before, after] = [toDelivery(row), toDelivery(await findDelivery(database, row.id))]
  if (after.status !== before.status)
    await recordChange(call, { action: 'delivery.replayed', id: row.id, before, after, fields: ['status'] })
  return after
}

async function applyAgain(call: Call, integration: Integration, row: DeliveryRow, body: string) {
  const meaning = readEventOrFault(row.lms_kind, payloadOf(body), integration)
  const outcome = await outcomeOf({ call, integration, deliveryId: row.id }, meaning)
  return { outcome, event: meaning instanceof DeliveryFault ? undefined : meaning }
}

function payloadOf(body: string): JsonObject {
  // The stored text was made from an object.
  return parseJson(body) as JsonObject
}

async function replayUnmatched(
  call: Call,
  { lmsKind, limit, cursor }: { lmsKind: LmsKind | null; limit: number; cursor: string | null },
): Promise<Replayed> {
  const { data: rows, nextCursor } = await page<DeliveryRow, DeliveryRow>(
    call.database,
    {
      columns: deliveryColumns,
      from: sql`webhook_deliveries d`,
      within: [
        { field: unmatchedOrder.sort, condition: sql`d.status = 'unmatched'` },
        // The second is always true; it makes the planner search the index.
        {
          field: unmatchedOrder.sort,
          condition: lmsKind === null ? sql`d.lms_kind >= ''` : sql`d.lms_kind = ${lmsKind}`,
        },
      ],
    },
    unmatchedOrder,
    { limit, cursor: cursor ?? undefined },
    (row) => row,
  )
  const data: Delivery[] = []
  for (const row of rows) data.push(await replayOne(call, row))
  return { data, nextCursor }
}

const unmatchedOrder = {
  sort: 'unmatched',
  expressions: { unmatched: [sql`d.lms_kind`, sql`d.received_at`] },
  id: sql`d.id`,
}

interface DeliveryRow extends Row {
  readonly id: string
  readonly lms_kind: LmsKind
  readonly status: string
  readonly body: string | null
}

/** From `webhook_deliveries d`. */
const deliveryColumns = sql`d.id, d.lms_kind, d.delivery_key, d.event, d.status, d.reason, d.detail, d.missing,
  d.user_id as learner_id, (select email from users where id = d.user_id) as user_email, d.course_id,
  (select title from courses where id = d.course_id) as course_title, d.item_id, d.grade_id, d.body, d.replays,
  d.received_at, d.processed_at`

async function findDelivery(database: Database, id: string): Promise<DeliveryRow> {
  const row = await database.one<DeliveryRow>(
    sql`select ${deliveryColumns} from webhook_deliveries d where d.id = ${id}`,
  )
  if (!row) throw notFound('webhook delivery', id)
  return row
}
