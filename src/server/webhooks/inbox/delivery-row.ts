import sql from 'sql-template-tag'
import type { Delivery, DeliveryDetails } from '../../../contract/deliveries.ts'
import type { LmsKind } from '../../../contract/integration-choices.ts'
import type { Database, Row } from '../../database/database.ts'
import { notFound } from '../../problem/problem-error.ts'

/** Row of a delivery, with the current names of its learner and course. */
export interface DeliveryRow extends Row {
  readonly id: string
  readonly lms_kind: string
  readonly delivery_key: string
  readonly event: string
  readonly status: string
  readonly reason: string | null
  readonly detail: string | null
  readonly missing: string
  readonly user_id: string | null
  readonly user_email: string | null
  readonly course_id: string | null
  readonly course_title: string | null
  readonly item_id: string | null
  readonly grade_id: string | null
  readonly body: string | null
  readonly replays: number
  readonly received_at: string
  readonly processed_at: string
}

/** Columns of a delivery, from `webhook_deliveries d`. */
export const deliveryColumns = sql`d.id, d.lms_kind, d.delivery_key, d.event, d.status, d.reason, d.detail, d.missing,
  d.user_id, (select email from users where id = d.user_id) as user_email, d.course_id,
  (select title from courses where id = d.course_id) as course_title, d.item_id, d.grade_id, d.body, d.replays,
  d.received_at, d.processed_at`

/** Converts a row to a delivery. */
export function toDelivery(row: DeliveryRow): Delivery {
  return {
    id: row.id,
    lmsKind: row.lms_kind,
    event: row.event,
    status: row.status as Delivery['status'],
    reason: row.reason,
    detail: row.detail,
    missing: JSON.parse(row.missing) as Delivery['missing'],
    learnerId: row.user_id,
    userEmail: row.user_email,
    courseId: row.course_id,
    courseTitle: row.course_title,
    itemId: row.item_id,
    gradeId: row.grade_id,
    deliveryKey: row.delivery_key,
    replays: row.replays,
    receivedAt: row.received_at,
    processedAt: row.processed_at,
  }
}

/** Converts a row to a delivery with its payload. */
export function toDeliveryDetails(row: DeliveryRow): DeliveryDetails {
  return { ...toDelivery(row), body: row.body }
}

/** Returns the row of a delivery; throws 404. */
export async function findDelivery(database: Database, id: string): Promise<DeliveryRow> {
  const row = await database.one<DeliveryRow>(
    sql`select ${deliveryColumns} from webhook_deliveries d where d.id = ${id}`,
  )
  if (!row) throw notFound('webhook delivery', id)
  return row
}

/** Returns the kind of a stored delivery. */
export function kindOf({ lms_kind: kind }: Pick<DeliveryRow, 'lms_kind'>): LmsKind {
  return kind as LmsKind
}
