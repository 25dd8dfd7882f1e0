import { lineOf } from '../../codec/display-text.ts'
import { type LmsKind, lmsKinds } from '../../contract/constants.ts'
import { type Delivery, deliveries, deliveryStatuses } from '../../contract/deliveries.ts'
import type { IgnoredReason } from '../../lms/event.ts'
import { kinds } from '../../lms/kinds.ts'
import { seeOther } from '../pages/page.tsx'
import { ask, type SignedInRequest, write } from './call-api.ts'
import { FilterForm } from './filter-form.tsx'
import { Form } from './form.tsx'
import { addressOf } from './frame.tsx'
import { capitalized, capitalizedChoices, filterIn, listPage, startOfDay } from './list.tsx'
import { Minute, none, recordUrl } from './values.tsx'

const path = '/dashboard/deliveries'

/** For admins. */
export const deliveriesPages = listPage<Delivery>({
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
        cell: (delivery, signedIn) => (
          <>
            <a href={recordUrl(signedIn, 'deliveries', delivery.id)}>{eventName(delivery, 80)}</a>
            <small>{kindName(delivery.lmsKind)}</small>
          </>
        ),
      },
      { name: 'Received', cell: ({ receivedAt }) => <Minute time={receivedAt} /> },
      { name: 'State', cell: (delivery) => <DeliveryState delivery={delivery} /> },
      {
        name: 'Learner',
        look: 'broad',
        cell: (delivery, signedIn) => <Learner {...{ signedIn, delivery }} />,
      },
      {
        name: 'Course',
        look: 'broad',
        cell: (delivery, signedIn) => <Course {...{ signedIn, delivery }} />,
      },
    ],
  },

  operation: deliveries.list,
  query: ({ query }) => {
    const { from, ...filter } = filterIn(query, { lms_kind: 'kind', status: 'status', from: 'from' })
    return { ...filter, received_since: startOfDay(from) }
  },

  filters: (signedIn) => (
    <FilterForm
      signedIn={signedIn}
      label="Filter deliveries"
      fields={[
        { name: 'status', label: 'State', choices: capitalizedChoices(deliveryStatuses), all: 'Any state' },
        {
          name: 'kind',
          label: 'System',
          choices: lmsKinds.map((kind) => [kind, kindName(kind)]),
          all: 'All systems',
        },
        { name: 'from', label: 'Received from day (UTC)', type: 'date' },
      ]}
      anchor="deliveries"
    />
  ),

  none: (signedIn) => <NoneYet base={signedIn.base} />,
  noMatch: 'No deliveries match.',

  below: async (signedIn) => ((await hasUnmatched(signedIn)) ? <ReplayAll signedIn={signedIn} /> : null),

  async act(signedIn, form) {
    const cursor = form.get('cursor')
    const { nextCursor } = await write(signedIn, deliveries.replayAll, { body: { cursor: cursor || null } })
    const address = addressOf(signedIn, path, 'deliveries_replayed')
    return seeOther(nextCursor === null ? address : `${address}&${new URLSearchParams({ rest: nextCursor })}`)
  },
})

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
    : capitalized(reason.replaceAll('_', ' '))
}

/** A malformed delivery may have none. */
export function eventName({ event }: Delivery, maxLength: number): string {
  return event === '' ? 'Unknown event' : lineOf(event, maxLength)
}

/** Linked; `otherwise` or a dash if there is no match. */
export function Learner({ delivery: { learnerId, userEmail }, ...others }: Named) {
  return <Linked place="learners" id={learnerId} name={userEmail} {...others} />
}

/** The same. */
export function Course({ delivery: { courseId, courseTitle }, ...others }: Named) {
  return <Linked place="courses" id={courseId} name={courseTitle} {...others} />
}

interface Named {
  readonly signedIn: SignedInRequest
  readonly delivery: Delivery
  /** Its id in the other system. */
  readonly otherwise?: string | undefined
}

function Linked({
  signedIn,
  place,
  id,
  name,
  otherwise,
}: Omit<Named, 'delivery'> & {
  readonly place: 'learners' | 'courses'
  readonly id: string | null
  readonly name: string | null
}) {
  if (id !== null) return <a href={recordUrl(signedIn, place, id)}>{lineOf(name ?? id, 255)}</a>
  return otherwise === undefined ? none : <code>{lineOf(otherwise, 120)}</code>
}

/** Undefined before the first one. */
export async function lastDelivery(signedIn: SignedInRequest, kind: LmsKind): Promise<Delivery | undefined> {
  const { data } = await ask(signedIn, deliveries.list, {
    query: { lms_kind: kind, limit: '1' },
  })
  return data[0]
}

export function LastDelivery({
  signedIn,
  delivery,
}: {
  signedIn: SignedInRequest
  delivery: Delivery | undefined
}) {
  if (!delivery) return none
  return (
    <>
      <a href={recordUrl(signedIn, 'deliveries', delivery.id)}>
        <Minute time={delivery.receivedAt} />
      </a>{' '}
      <DeliveryState delivery={delivery} />
    </>
  )
}
