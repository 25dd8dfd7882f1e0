import sql, { join } from 'sql-template-tag'
import { type Delivery, deliveries, ReplayInput } from '../../../contract/deliveries.ts'
import { during } from '../../database/keyset.ts'
import { page } from '../../database/page.ts'
import { routesOf } from '../../http/schema-routes.ts'
import { parseBody } from '../../http/validation.ts'
import {
  type DeliveryRow,
  deliveryColumns,
  findDelivery,
  toDelivery,
  toDeliveryDetails,
} from './delivery-row.ts'
import { replayOne, replayUnmatched } from './replay.ts'

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

  get: async ({ database, params }) => toDeliveryDetails(await findDelivery(database, params.deliveryId)),

  replay: async (call) => replayOne(call, await findDelivery(call.database, call.params.deliveryId)),

  replayAll: (call) => replayUnmatched(call, parseBody(ReplayInput, call.rawBody)),
})
