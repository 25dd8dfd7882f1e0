import { lineOf } from '../../codec/display-text.ts'
import { type LmsKind, lmsKinds } from '../../contract/constants.ts'
import { type Delivery, deliveries, deliveryStatuses } from '../../contract/deliveries.ts'
import type { IgnoredReason } from '../../lms/event.ts'
import { kinds } from '../../lms/kinds.ts'
import { seeOther } from '../pages/page.tsx'
import { ask, type SignedInRequest, write } from './call-api.ts'
import { Form } from './form.tsx'
import { addressOf } from './frame.tsx'
import { listPage, StatusFilter, startOfDay } from './list.tsx'
import { noneText, type PageQuery, pageQueryOf } from './paging.tsx'
import type { TableFile } from './table-file.tsx'
import { Minute } from './values.tsx'

const path = '/dashboard/deliveries'

export const deliveriesFile: TableFile = { path, operation: deliveries.list, read: readDeliveries }

/** For admins. */
export const deliveriesPage = listPage<Delivery>({
  path,
  section: '/dashboard/integrations',
  title: 'Deliveries',
  tab: 'Deliveries',
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

  read: (signedIn) => readDeliveries(signedIn, pageQueryOf(signedIn)),
  file: deliveriesFile,

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
    const { nextCursor } = await write(signedIn, deliveries.replayAll, { body: { cursor: cursor || null } })
    const address = addressOf(signedIn, path, 'deliveries_replayed')
    return seeOther(nextCursor === null ? address : `${address}&${new URLSearchParams({ rest: nextCursor })}`)
  },
})

function readDeliveries(signedIn: SignedInRequest, page: PageQuery) {
  const { kind, status, from } = filterOf(signedIn)
  return ask(signedIn, deliveries.list, {
    query: { ...page, lms_kind: kind, status, received_since: startOfDay(from) },
  })
}

function filterOf({ query }: SignedInRequest) {
  const [kind, status, from] = ['kind', 'status', 'from'].map((name) => query.get(name) || undefined)
  return { kind, status, from }
}

function hereWith({ base }: SignedInRequest, filters: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(filters).filter((one): one is [string, string] => one[1] !== undefined)
  return base + path + (given.length === 0 ? '' : `?${new URLSearchParams(given)}`)
}

async function hasUnmatched(signedIn: SignedInRequest): Promise<boolean> {
  const query = { status: 'unmatched', limit: '1' }
  const { data } = await ask(signedIn, deliveries.list, { query })
  return data.length > 0
}

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

/** The kind itself if it is no longer known. */
export function kindName(kind: string): string {
  return Object.hasOwn(kinds, kind) ? kinds[kind as LmsKind].title : kind
}

/** For reasons whose code does not say enough. */
const reasonWords: Readonly<Record<IgnoredReason, string>> & Readonly<Record<string, string>> = {
  event_type: 'Not a grade or progress event',
  context: 'Not about a course',
  anonymous: 'Names no learner',
  no_score: 'Has no score',
  no_maximum: 'Maximum score not known',
  no_requirements: 'Course has no completion requirements',
  score_out_of_range: 'Score out of range',
  stale_grade: 'A newer grade is recorded',
  stale_progress: 'Newer progress is recorded',
  in_future: 'Its time is in the future',
  user_inactive: 'Learner is not active',
  not_configured: 'System not connected',
}

export function DeliveryState({ delivery }: { delivery: Delivery }) {
  const why = reasonOf(delivery)
  return (
    <>
      <span class={`state ${delivery.status}`}>{delivery.status}</span>
      {why === null ? null : <small>{lineOf(why, 80)}</small>}
    </>
  )
}

function reasonOf({ reason, missing }: Delivery): string | null {
  if (missing.includes('enrollment')) return 'Not enrolled'
  if (missing.length > 0 && reason !== 'user_inactive') return `Not found: ${missing.join(', ')}`
  if (reason === null) return null
  return Object.hasOwn(reasonWords, reason)
    ? (reasonWords[reason] ?? reason)
    : `${reason[0]?.toUpperCase()}${reason.slice(1).replaceAll('_', ' ')}`
}

/** A malformed delivery may have none. */
export function eventName({ event }: Delivery, maxLength: number): string {
  return event === '' ? 'Unknown event' : lineOf(event, maxLength)
}

/** Linked; `otherwise` or a dash if there is no match. */
export function Learner({ base, delivery: { learnerId, userEmail }, otherwise }: Named) {
  return <Linked {...{ base, otherwise }} place="learners" id={learnerId} name={userEmail} />
}

/** Linked; `otherwise` or a dash if there is no match. */
export function Course({ base, delivery: { courseId, courseTitle }, otherwise }: Named) {
  return <Linked {...{ base, otherwise }} place="courses" id={courseId} name={courseTitle} />
}

interface Named {
  readonly base: string
  readonly delivery: Delivery
  /** Its id in the other system. */
  readonly otherwise?: string | undefined
}

function Linked({
  base,
  place,
  id,
  name,
  otherwise,
}: Omit<Named, 'delivery'> & {
  readonly place: string
  readonly id: string | null
  readonly name: string | null
}) {
  if (id !== null) {
    return <a href={`${base}/dashboard/${place}/${encodeURIComponent(id)}`}>{lineOf(name ?? id, 255)}</a>
  }
  return otherwise === undefined ? <span class="none">–</span> : <code>{lineOf(otherwise, 120)}</code>
}

/** Undefined before the first one. */
export async function lastDelivery(signedIn: SignedInRequest, kind: LmsKind): Promise<Delivery | undefined> {
  const { data } = await ask(signedIn, deliveries.list, {
    query: { lms_kind: kind, limit: '1' },
  })
  return data[0]
}

export function LastDelivery({ base, delivery }: { base: string; delivery: Delivery | undefined }) {
  if (!delivery) return <span class="none">–</span>
  return (
    <>
      <a href={`${base}/dashboard/deliveries/${encodeURIComponent(delivery.id)}`}>
        <Minute time={delivery.receivedAt} />
      </a>{' '}
      <DeliveryState delivery={delivery} />
    </>
  )
}
