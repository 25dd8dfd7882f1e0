import type { Child } from 'hono/jsx'
import { lineOf } from '../../codec/display-text.ts'
import { type LmsKind, lmsKinds } from '../../contract/constants.ts'
import {
  type Delivery,
  type DeliveryDetails,
  deliveries,
  deliveryStatuses,
} from '../../contract/deliveries.ts'
import { integrations } from '../../contract/integrations.ts'
import type { IgnoredReason } from '../../lms/event.ts'
import { kinds, mappingKeys } from '../../lms/kinds.ts'
import { Card } from '../../report/elements.tsx'
import type { Reply } from '../http/reply.ts'
import { requireKind } from '../integrations/integration.ts'
import { seeOther } from '../pages/page.tsx'
import { ProblemError } from '../problem-error.ts'
import { ask, askOrNone, type SignedInRequest, write, writeFor } from './call-api.ts'
import type { DashboardPage } from './dashboard-page.ts'
import { postForm } from './form.tsx'
import { addressOf, framePage, goTo } from './frame.tsx'
import { referenceOf } from './integration-lists.tsx'
import { listPage } from './list.tsx'
import { capitalized, capitalizedChoices, filterIn, startOfDay } from './list-parameters.tsx'
import { type RecordForm, recordForm } from './record-form.tsx'
import {
  codeOrNone,
  detailsCard,
  document,
  type ListedFacts,
  Minute,
  none,
  recordLink,
  recordUrl,
  stateTag,
} from './values.tsx'

const path = '/dashboard/deliveries'

/** For admins. */
const list = listPage<Delivery>({
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
            {recordLink(signedIn, 'deliveries', delivery.id, eventName(delivery, 80))}
            <small>{kindName(delivery.lmsKind)}</small>
          </>
        ),
      },
      { name: 'Received', cell: ({ receivedAt }) => <Minute time={receivedAt} /> },
      { name: 'State', cell: deliveryState },
      {
        name: 'Learner',
        look: 'broad',
        cell: (delivery, signedIn) => linkOf(signedIn, 'learners', delivery),
      },
      { name: 'Course', look: 'broad', cell: (delivery, signedIn) => linkOf(signedIn, 'courses', delivery) },
    ],
  },

  operation: deliveries.list,
  query: ({ query }) => {
    const { from, ...filter } = filterIn(query, { lms_kind: 'kind', status: 'status', from: 'from' })
    return { ...filter, received_since: startOfDay(from) }
  },

  filter: {
    label: 'Filter deliveries',
    fields: () => [
      { name: 'status', label: 'State', choices: capitalizedChoices(deliveryStatuses), all: 'Any state' },
      {
        name: 'kind',
        label: 'System',
        choices: lmsKinds.map((kind) => [kind, kindName(kind)]),
        all: 'All systems',
      },
      { name: 'from', label: 'Received from day (UTC)', type: 'date' },
    ],
  },

  none: noneYet,
  noMatch: 'No deliveries match.',

  below: async (signedIn) => ((await hasUnmatched(signedIn)) ? replayForm(signedIn) : null),

  async act(signedIn, form) {
    const cursor = form.get('cursor')
    const { nextCursor } = await write(signedIn, deliveries.replayAll, { body: { cursor: cursor || null } })
    const address = addressOf(signedIn, path, 'deliveries_replayed')
    return seeOther(nextCursor === null ? address : `${address}&${new URLSearchParams({ rest: nextCursor })}`)
  },
})

type Keys = ReturnType<typeof mappingKeys>

const nouns = ['course', 'user'] as const
const labels = { course: 'Course here', user: 'Learner here' }

const page: DashboardPage = {
  path: `${path}/:deliveryId`,
  show: (signedIn) => showDelivery(signedIn),
  again: showDelivery,

  async act(signedIn, form) {
    const { id } = await writeFor(signedIn, async (inside) => {
      const delivery = await ask(inside, deliveries.get)
      const keys = await keysOf(inside, delivery)
      for (const noun of nouns) {
        const [key, reference] = [keys[noun], (form.get(noun) ?? '').trim()]
        if (key !== undefined && reference !== '')
          await saveMapping(inside, delivery, { noun, key, reference })
      }
      return ask(inside, deliveries.replay)
    })
    return goTo(signedIn, `${path}/${encodeURIComponent(id)}`, 'delivery_replayed')
  },
}

async function saveMapping(
  signedIn: SignedInRequest,
  { lmsKind }: DeliveryDetails,
  { noun, key, reference }: { noun: 'course' | 'user'; key: string; reference: string },
): Promise<void> {
  try {
    await ask(signedIn, integrations.map, {
      params: { lmsKind },
      body: { noun, externalKey: key, reference: referenceOf(noun, reference) },
    })
  } catch (error) {
    if (!(error instanceof ProblemError) || !error.errors) throw error
    const errors = error.errors.map((fault) => ({ ...fault, pointer: `#/${noun}` as const }))
    throw new ProblemError(error.code, error.message, { errors })
  }
}

/** Returns the other system's keys of the course and learner; none if it is no longer connected. */
async function keysOf(signedIn: SignedInRequest, { lmsKind, body }: DeliveryDetails): Promise<Keys> {
  const settings = await askOrNone(signedIn, integrations.get, { params: { lmsKind } })
  if (!settings) return { course: undefined, user: undefined }
  return mappingKeys(requireKind(lmsKind), body, settings)
}

async function showDelivery(
  signedIn: SignedInRequest,
  fault?: ProblemError,
  form = new URLSearchParams(),
): Promise<Reply> {
  const delivery = await ask(signedIn, deliveries.get)
  const keys = await keysOf(signedIn, delivery)
  const { body, status } = delivery
  return framePage(
    signedIn,
    {
      title: 'Delivery',
      section: '/dashboard/integrations',
      fault,
      back: [signedIn.base + path, 'Deliveries'],
      heading: eventName(delivery, 120),
    },
    detailsCard(factsOf(signedIn, delivery, keys)),
    status === 'applied' || body === null ? null : (
      <Card id="replay" title="Replay" isShort>
        {recordForm(signedIn, replayFormOf(delivery, keys), { form, fault }, replayNotes(signedIn, delivery))}
      </Card>
    ),
    <Card id="payload" title="Payload">
      {body === null ? <p>The payload is not kept.</p> : document(body)}
    </Card>,
  )
}

function factsOf(signedIn: SignedInRequest, delivery: DeliveryDetails, keys: Keys): ListedFacts {
  const { lmsKind, detail, itemId, gradeId, replays } = delivery
  return [
    ['State', deliveryState(delivery)],
    ['Why', detail && lineOf(detail, 500)],
    ['System', recordLink(signedIn, 'integrations', lmsKind, kindName(lmsKind))],
    ['Learner', linkOf(signedIn, 'learners', delivery, keys.user)],
    ['Course', linkOf(signedIn, 'courses', delivery, keys.course)],
    ['Grade', gradeId && recordLink(signedIn, 'grades', gradeId, `Item ${lineOf(itemId ?? gradeId, 120)}`)],
    ['Item', gradeId === null && itemId !== null && <code>{lineOf(itemId, 120)}</code>],
    ['Received', <Minute time={delivery.receivedAt} />],
    ['Processed', <Minute time={delivery.processedAt} />],
    ['Replays', replays > 0 && String(replays)],
    ['ID', <code>{delivery.id}</code>],
  ]
}

/** Asks for what is missing and the other system names. */
function replayFormOf({ missing, lmsKind, reason }: DeliveryDetails, keys: Keys): RecordForm {
  const isMissing = {
    course: missing.includes('course'),
    user: missing.includes('learner') && reason !== 'user_inactive',
  }
  const asked = nouns.filter((noun) => isMissing[noun] && keys[noun] !== undefined)
  return {
    label: 'Replay the delivery',
    button: asked.length > 0 ? 'Map and replay' : 'Replay',
    fields: asked.map((noun) => ({
      name: noun,
      label: labels[noun],
      hint: `${kindName(lmsKind)} has it as ${lineOf(keys[noun] ?? '', 80)}. Enter its id${noun === 'user' ? ', ext:<externalId> or e-mail address' : ' or ext:<externalId>'}`,
    })),
  }
}

function replayNotes(signedIn: SignedInRequest, { missing, lmsKind, reason }: DeliveryDetails): Child {
  return (
    <>
      {missing.includes('enrollment') ? (
        <p>
          The learner is not enrolled in the course, or the enrolment is inactive. Enrol the learner, then
          replay.
        </p>
      ) : null}
      {reason === 'user_inactive' ? (
        <p>The learner is suspended or deleted. Set the user active, then replay.</p>
      ) : null}
      {reason === 'no_maximum' ? (
        <p>
          The score has no maximum. Add the item to the{' '}
          <a href={`${recordUrl(signedIn, 'integrations', lmsKind)}#gradeItems`}>
            {`graded items of ${kindName(lmsKind)}`}
          </a>
          , then replay.
        </p>
      ) : null}
    </>
  )
}

export const deliveryPages = [...list, page]

async function hasUnmatched(signedIn: SignedInRequest): Promise<boolean> {
  const query = { status: 'unmatched', limit: '1' }
  const { data } = await ask(signedIn, deliveries.list, { query })
  return data.length > 0
}

function noneYet({ base }: SignedInRequest): Child {
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

function replayForm(signedIn: SignedInRequest): Child {
  const rest = signedIn.query.get('rest')
  return postForm(
    signedIn,
    'Replay unmatched deliveries',
    rest === null ? null : <input type="hidden" name="cursor" value={rest} />,
    <div class="actions row">
      <button type="submit" class="quiet">
        {rest === null ? 'Replay unmatched deliveries' : 'Replay the next ones'}
      </button>
    </div>,
  )
}

function kindName(kind: string): string {
  return Object.hasOwn(kinds, kind) ? kinds[kind as LmsKind].title : kind
}

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

function deliveryState(delivery: Delivery): Child {
  const why = reasonOf(delivery)
  return (
    <>
      {stateTag(delivery.status)}
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
function eventName({ event }: Delivery, maxLength: number): string {
  return event === '' ? 'Unknown event' : lineOf(event, maxLength)
}

/** Linked, else the id in the other system, or a dash. */
function linkOf(
  signedIn: SignedInRequest,
  place: 'learners' | 'courses',
  { learnerId, userEmail, courseId, courseTitle }: Delivery,
  otherwise: string | null = null,
): Child {
  const [id, name] = place === 'learners' ? [learnerId, userEmail] : [courseId, courseTitle]
  if (id === null) return codeOrNone(otherwise, 120)
  return recordLink(signedIn, place, id, lineOf(name ?? id, 255))
}

export async function lastDelivery(signedIn: SignedInRequest, kind: LmsKind): Promise<Delivery | undefined> {
  const { data } = await ask(signedIn, deliveries.list, { query: { lms_kind: kind, limit: '1' } })
  return data[0]
}

export function lastDeliveryText(signedIn: SignedInRequest, delivery: Delivery | undefined): Child {
  if (!delivery) return none
  return (
    <>
      {recordLink(signedIn, 'deliveries', delivery.id, <Minute time={delivery.receivedAt} />)}{' '}
      {deliveryState(delivery)}
    </>
  )
}
