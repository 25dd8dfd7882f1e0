import { type Delivery, deliveries, deliveryStatuses } from '../../contract/deliveries.ts'
import { lmsKinds } from '../../contract/integration-choices.ts'
import { seeOther } from '../pages/page.tsx'
import { deliveryRoutes } from '../webhooks/inbox/deliveries.ts'
import { startOf } from './audit-filter.tsx'
import type { DashboardPage } from './dashboard-page.ts'
import { Course, eventName, Learner } from './delivery-names.tsx'
import { DeliveryState } from './delivery-state.tsx'
import { Form } from './form.tsx'
import { addressOf, framed } from './frame.tsx'
import { IntegrationParts } from './integration-parts.tsx'
import { kindName } from './integration-words.ts'
import { nextPage, noneText, pageAsked } from './paging.tsx'
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
    const names = ['kind', 'status', 'from'] as const
    const asked = Object.fromEntries(names.map((name) => [name, query.get(name) || undefined]))
    const { kind, status, from } = asked
    const { data, nextCursor } = await ask(signedIn, deliveryRoutes, deliveries.list, {
      query: { ...pageAsked(signedIn), lms_kind: kind, status, received_since: startOf(from) },
    })
    const without = (left: (typeof names)[number]) => {
      const others = Object.entries(asked).flatMap(([name, value]) =>
        name === left || value === undefined ? [] : [[name, value]],
      )
      return base + path + (others.length === 0 ? '' : `?${new URLSearchParams(others)}`)
    }
    const isFiltered = Object.values(asked).some((value) => value !== undefined)
    return framed(
      signedIn,
      { title: 'Deliveries', section: '/dashboard/integrations' },
      <>
        <h1>Deliveries</h1>
        <IntegrationParts signedIn={signedIn} shown="Deliveries" />
        <p>
          What other systems have sent. A delivery whose course or learner is not known waits for a mapping.
        </p>
        <section class="card" aria-labelledby="deliveries">
          <h2 id="deliveries">Deliveries</h2>
          <StatusFilter
            label="Deliveries by state"
            here={without('status')}
            choices={deliveryStatuses}
            chosen={status}
            anchor="deliveries"
          />
          <StatusFilter
            label="Deliveries by system"
            here={without('kind')}
            parameter="kind"
            choices={lmsKinds}
            nameOf={kindName}
            chosen={kind}
            anchor="deliveries"
          />
          <SinceFilter signedIn={signedIn} from={from} others={{ kind, status }} />
          {data.length > 0 ? <DeliveryTable base={base} deliveries={data} /> : null}
          {data.length > 0 ? null : isFiltered ? (
            <p>{noneText(nextCursor, 'No deliveries match.')}</p>
          ) : (
            <NoneYet base={base} />
          )}
          {nextPage(signedIn, nextCursor)}
        </section>
        {(await hasUnmatched(signedIn)) ? <ReplayAll signedIn={signedIn} /> : null}
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

/** True where a delivery waits for a mapping or an enrolment. */
async function hasUnmatched(signedIn: SignedInRequest): Promise<boolean> {
  const query = { status: 'unmatched', limit: '1' }
  const { data } = await ask(signedIn, deliveryRoutes, deliveries.list, { query })
  return data.length > 0
}

/** What is said before the first delivery. */
function NoneYet({ base }: { base: string }) {
  return (
    <>
      <p>
        No deliveries yet. <a href={`${base}/dashboard/integrations`}>Connect a system</a>, then send a test
        delivery as it would:
      </p>
      <code class="code">
        learnctl webhooks send moodle user_graded --user 15 --course 4 --item 12 --score 18 --maximum 20
      </code>
    </>
  )
}

function SinceFilter({
  signedIn: { base },
  from,
  others,
}: {
  signedIn: SignedInRequest
  from: string | undefined
  others: Readonly<Record<string, string | undefined>>
}) {
  return (
    <search>
      <form method="get" action={base + path} class="search" aria-label="Deliveries by day">
        {Object.entries(others).map(([name, value]) =>
          value === undefined ? null : <input type="hidden" name={name} value={value} />,
        )}
        <label for="from">Received from day (UTC)</label>
        <input id="from" name="from" type="date" value={from ?? ''} />
        <button type="submit" class="quiet">
          Filter
        </button>
      </form>
    </search>
  )
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
