import sql, { join } from 'sql-template-tag'
import type { JsonObject } from '../../../codec/json-object.ts'
import { parseJson } from '../../../codec/json-text.ts'
import type { Delivery, Replayed } from '../../../contract/deliveries.ts'
import type { LmsKind } from '../../../contract/integration-choices.ts'
import { DeliveryFault } from '../../../webhooks/delivery-fault.ts'
import { recordChange } from '../../changes/change.ts'
import { readCursorParts, writeCursor } from '../../database/keyset.ts'
import type { Call } from '../../http/handler.ts'
import { type Integration, integrationOf } from '../../integrations/integration.ts'
import { type DeliveryRow, deliveryColumns, findDelivery, kindOf, toDelivery } from './delivery-row.ts'
import { deliverySubjectOf } from './delivery-subject.ts'
import { meaningOf } from './meaning.ts'
import { keepsBody, nothing, type Outcome } from './outcome.ts'
import { itemOf, outcomeOf } from './store-delivery.ts'

/**
 * Applies a delivery again with the current integration, by the same rules: an applied one stays unchanged,
 * and an older grade does not replace a newer one.
 */
export async function replayOne(call: Call, row: DeliveryRow): Promise<Delivery> {
  const { database, now } = call
  if (row.status === 'applied' || row.body === null) return toDelivery(row)
  const integration = await integrationOf(database, row.lms_kind)
  const { outcome, event } = integration
    ? await outcomeNow(call, integration, row, row.body)
    : {
        outcome: { ...nothing, status: 'failed', reason: 'not_configured' } satisfies Outcome,
        event: undefined,
      }
  const body = keepsBody(outcome) ? row.body : null
  const { userId, hint } = await deliverySubjectOf(database, kindOf(row), payloadOf(row.body), outcome)
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

async function outcomeNow(call: Call, integration: Integration, row: DeliveryRow, body: string) {
  const meaning = meaningOf(kindOf(row), payloadOf(body), integration)
  const outcome = await outcomeOf({ call, integration, deliveryId: row.id }, meaning)
  return { outcome, event: meaning instanceof DeliveryFault ? undefined : meaning }
}

/** Parses a stored payload. */
function payloadOf(body: string): JsonObject {
  // The stored text was made from an object.
  return parseJson(body) as JsonObject
}

/** Replays a page of unmatched deliveries, by system and time of arrival. */
export async function replayUnmatched(
  call: Call,
  { lmsKind, limit, cursor }: { lmsKind: LmsKind | null; limit: number; cursor: string | null },
): Promise<Replayed> {
  const { database } = call
  const after = cursor === null ? ['', '', ''] : readCursorParts(cursor, 'unmatched', 3).map(String)
  const ofKind = lmsKind === null ? sql`true` : sql`d.lms_kind = ${lmsKind}`
  const rows = await database.all<DeliveryRow>(sql`
    select ${deliveryColumns} from webhook_deliveries d
    where d.status = 'unmatched' and ${ofKind} and (d.lms_kind, d.received_at, d.id) > (${join(after)})
    order by d.lms_kind, d.received_at, d.id limit ${limit + 1}`)
  const data: Delivery[] = []
  for (const row of rows.slice(0, limit)) data.push(await replayOne(call, row))
  const last = rows.length > limit ? rows[limit - 1] : undefined
  const nextCursor = last ? writeCursor('unmatched', last.lms_kind, last.received_at, last.id) : null
  return { data, nextCursor }
}
