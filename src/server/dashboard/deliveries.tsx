import { type Delivery, deliveries, deliveryStatuses } from '../../contract/deliveries.ts'
import { lmsKinds } from '../../contract/integration-choices.ts'
import { seeOther } from '../pages/page.tsx'
import { deliveryRoutes } from '../webhooks/inbox/deliveries.ts'
import type { DashboardPage } from './dashboard-page.ts'
import { Course, eventName, Learner } from './delivery-names.tsx'
import { DeliveryState } from './delivery-state.tsx'
import { Form } from './form.tsx'
import { addressOf, framed } from './frame.tsx'
import { IntegrationParts } from './integration-parts.tsx'
import { kindName } from './integration-words.ts'
import { nextPage, pageAsked } from './paging.tsx'
import { ask, type SignedInRequest, writeFor } from './signed-in-request.ts'
import { StatusFilter } from './status-filter.tsx'
import { Table } from './table.tsx'
import { Minute } from './value-text.tsx'

const path = '/dashboard/deliveries'

/** What other systems have sent, for admins: what became of each, and the way to process again what found no course or learner. */
export const deliveriesPage: DashboardPage = {
  path,

  async show(signedIn) {
    const { query, base } = signedIn
    const kind = query.get('kind') ?? undefined
    const status = query.get('status') ?? undefined
    const { data, nextCursor } = await ask(signedIn, deliveryRoutes, deliveries.list, {
      query: { ...pageAsked(signedIn), lms_kind: kind, status },
    })
    const withOther = (name: string, value: string | undefined) =>
      base + path + (value === undefined ? '' : `?${new URLSearchParams({ [name]: value })}`)
    return framed(
      signedIn,
      { title: 'Inbox', section: '/dashboard/integrations' },
      <>
        <h1>Inbox</h1>
        <IntegrationParts signedIn={signedIn} shown="Inbox" />
        <p>
          What other systems have sent. A delivery whose course or learner is not known waits for a mapping.
        </p>
        <section class="card" aria-labelledby="deliveries">
          <h2 id="deliveries">Deliveries</h2>
          <StatusFilter
            label="Deliveries by state"
            here={withOther('kind', kind)}
            choices={deliveryStatuses}
            chosen={status}
            anchor="deliveries"
          />
          <StatusFilter
            label="Deliveries by system"
            here={withOther('status', status)}
            parameter="kind"
            choices={lmsKinds}
            nameOf={kindName}
            chosen={kind}
            anchor="deliveries"
          />
          {data.length === 0 ? (
            <p>{kind || status ? 'No deliveries match.' : 'No deliveries yet.'}</p>
          ) : (
            <DeliveryTable base={base} deliveries={data} />
          )}
          {nextPage(signedIn, nextCursor)}
        </section>
        <ReplayAll signedIn={signedIn} />
      </>,
    )
  },

  async act(signedIn, form) {
    const cursor = form.get('cursor')
    const { nextCursor } = await writeFor(signedIn, (inside) =>
      ask(inside, deliveryRoutes, deliveries.replayAll, { body: { cursor: cursor || null } }),
    )
    const address = addressOf(signedIn, path, 'deliveries_replayed')
    return seeOther(nextCursor === null ? address : `${address}&${new URLSearchParams({ rest: nextCursor })}`)
  },
}

function ReplayAll({ signedIn }: { signedIn: SignedInRequest }) {
  const rest = signedIn.query.get('rest')
  return (
    <Form signedIn={signedIn} label="Replay unmatched deliveries">
      {rest === null ? null : <input type="hidden" name="cursor" value={rest} />}
      <div class="actions row">
        <button type="submit" class="quiet">
          {rest === null ? 'Replay unmatched deliveries' : 'Replay the next ones'}
        </button>
      </div>
    </Form>
  )
}

function DeliveryTable({ base, deliveries }: { base: string; deliveries: readonly Delivery[] }) {
  return (
    <Table
      caption="Deliveries, newest first"
      columns={[
        { name: 'Event' },
        { name: 'Received' },
        { name: 'State' },
        { name: 'Learner', look: 'broad' },
        { name: 'Course', look: 'broad' },
      ]}
      rows={deliveries.map((delivery) => [
        <>
          <a href={`${base}${path}/${encodeURIComponent(delivery.id)}`}>{eventName(delivery, 80)}</a>
          <small>{kindName(delivery.lmsKind)}</small>
        </>,
        <Minute time={delivery.receivedAt} />,
        <DeliveryState delivery={delivery} />,
        <Learner base={base} delivery={delivery} />,
        <Course base={base} delivery={delivery} />,
      ])}
    />
  )
}
