import { type Delivery, deliveries, deliveryStatuses } from '../../contract/deliveries.ts'
import { lmsKinds } from '../../contract/integration-choices.ts'
import { seeOther } from '../pages/page.tsx'
import { deliveryRoutes } from '../webhooks/inbox/deliveries.ts'
import { startOf } from './audit-filter.tsx'
import { Course, eventName, Learner } from './delivery-names.tsx'
import { DeliveryState } from './delivery-state.tsx'
import { Form } from './form.tsx'
import { addressOf } from './frame.tsx'
import { kindName } from './integration-words.ts'
import { listPage } from './list.tsx'
import { noneText, pageAsked } from './paging.tsx'
import { ask, type SignedInRequest, writeFor } from './signed-in-request.ts'
import { StatusFilter } from './status-filter.tsx'
import { Minute } from './value-text.tsx'

const path = '/dashboard/deliveries'

/** What other systems have sent, for admins: what became of each, and the way to process again what found no course or learner. */
export const deliveriesPage = listPage<Delivery>({
  path,
  section: '/dashboard/integrations',
  title: 'Deliveries',
  part: 'Deliveries',
  intro: 'What other systems have sent. A delivery whose course or learner is not known waits for a mapping.',
  list: {
    id: 'deliveries',
    title: 'Deliveries',
    caption: 'Deliveries, newest first',
    columns: [
      {
        name: 'Event',
        cell: (delivery, { base }) => (
          <>
            <a href={`${base}${path}/${encodeURIComponent(delivery.id)}`}>{eventName(delivery, 80)}</a>
            <small>{kindName(delivery.lmsKind)}</small>
          </>
        ),
      },
      { name: 'Received', cell: ({ receivedAt }) => <Minute time={receivedAt} /> },
      { name: 'State', cell: (delivery) => <DeliveryState delivery={delivery} /> },
      {
        name: 'Learner',
        look: 'broad',
        cell: (delivery, { base }) => <Learner base={base} delivery={delivery} />,
      },
      {
        name: 'Course',
        look: 'broad',
        cell: (delivery, { base }) => <Course base={base} delivery={delivery} />,
      },
    ],
  },

  read(signedIn) {
    const { kind, status, from } = filterOf(signedIn)
    return ask(signedIn, deliveryRoutes, deliveries.list, {
      query: { ...pageAsked(signedIn), lms_kind: kind, status, received_since: startOf(from) },
    })
  },

  filters(signedIn) {
    const { kind, status, from } = filterOf(signedIn)
    return (
      <>
        <StatusFilter
          label="Deliveries by state"
          here={hereWith(signedIn, { kind, from })}
          choices={deliveryStatuses}
          chosen={status}
          anchor="deliveries"
        />
        <StatusFilter
          label="Deliveries by system"
          here={hereWith(signedIn, { status, from })}
          parameter="kind"
          choices={lmsKinds}
          nameOf={kindName}
          chosen={kind}
          anchor="deliveries"
        />
        <SinceFilter signedIn={signedIn} from={from} others={{ kind, status }} />
      </>
    )
  },

  none(signedIn, { nextCursor = null }) {
    const isFiltered = Object.values(filterOf(signedIn)).some((value) => value !== undefined)
    if (isFiltered) return <p>{noneText(nextCursor, 'No deliveries match.')}</p>
    return <NoneYet base={signedIn.base} />
  },

  below: async (signedIn) => ((await hasUnmatched(signedIn)) ? <ReplayAll signedIn={signedIn} /> : null),

  async act(signedIn, form) {
    const cursor = form.get('cursor')
    const { nextCursor } = await writeFor(signedIn, (inside) =>
      ask(inside, deliveryRoutes, deliveries.replayAll, { body: { cursor: cursor || null } }),
    )
    const address = addressOf(signedIn, path, 'deliveries_replayed')
    return seeOther(nextCursor === null ? address : `${address}&${new URLSearchParams({ rest: nextCursor })}`)
  },
})

/** What the address narrows the list down to. */
function filterOf({ query }: SignedInRequest) {
  const [kind, status, from] = ['kind', 'status', 'from'].map((name) => query.get(name) || undefined)
  return { kind, status, from }
}

/** The address of the list with these filters. */
function hereWith({ base }: SignedInRequest, filters: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(filters).filter((one): one is [string, string] => one[1] !== undefined)
  return base + path + (given.length === 0 ? '' : `?${new URLSearchParams(given)}`)
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
