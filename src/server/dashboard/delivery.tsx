import { lineOf } from '../../codec/display-text.ts'
import { type DeliveryDetails, deliveries } from '../../contract/deliveries.ts'
import { integrations } from '../../contract/integrations.ts'
import { mappingKeys } from '../../lms/read-event.ts'
import { Card } from '../../report/elements.tsx'
import type { Reply } from '../http/reply.ts'
import { requireKind } from '../integrations/integration.ts'
import { seeOther } from '../pages/page.tsx'
import { ProblemError } from '../problem-error.ts'
import { ask, askOrNone, type SignedInRequest, writeFor } from './call-api.ts'
import type { DashboardPage } from './dashboard-page.ts'
import { Course, DeliveryState, eventName, kindName, Learner } from './deliveries.tsx'
import { addressOf, Back, framePage } from './frame.tsx'
import { referenceOf } from './mappings.tsx'
import { RecordFields, type RecordForm } from './record-form.tsx'
import { Details, Document, type ListedFacts, Minute, recordUrl } from './values.tsx'

type Keys = ReturnType<typeof mappingKeys>

const labels = { course: 'Course here', user: 'Learner here' } as const

export const deliveryPage: DashboardPage = {
  path: '/dashboard/deliveries/:deliveryId',
  show: (signedIn) => showDelivery(signedIn),
  again: showDelivery,

  async act(signedIn, form) {
    const { id } = await writeFor(signedIn, async (inside) => {
      const delivery = await ask(inside, deliveries.get)
      const keys = await keysOf(inside, delivery)
      for (const noun of ['course', 'user'] as const) {
        const [key, reference] = [keys[noun], (form.get(noun) ?? '').trim()]
        if (key !== undefined && reference !== '')
          await saveMapping(inside, delivery, { noun, key, reference })
      }
      return ask(inside, deliveries.replay)
    })
    return seeOther(
      addressOf(signedIn, `/dashboard/deliveries/${encodeURIComponent(id)}`, 'delivery_replayed'),
    )
  },
}

/** Faults point to the form's field. */
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
  const { base } = signedIn
  const delivery = await ask(signedIn, deliveries.get)
  const keys = await keysOf(signedIn, delivery)
  return framePage(
    signedIn,
    { title: 'Delivery', section: '/dashboard/integrations', fault },
    <>
      <Back to={`${base}/dashboard/deliveries`}>Deliveries</Back>
      <h1>{eventName(delivery, 120)}</h1>
      <Details facts={factsOf(signedIn, delivery, keys)} />
      {delivery.status === 'applied' || delivery.body === null ? null : (
        <Card id="replay" title="Replay" isShort>
          <RecordFields {...{ signedIn, form, fault }} of={replayForm(delivery, keys)}>
            <ReplayNotes signedIn={signedIn} delivery={delivery} />
          </RecordFields>
        </Card>
      )}
      <Card id="payload" title="Payload">
        {delivery.body === null ? <p>The payload is not kept.</p> : <Document text={delivery.body} />}
      </Card>
    </>,
  )
}

function factsOf(signedIn: SignedInRequest, delivery: DeliveryDetails, keys: Keys): ListedFacts {
  const { lmsKind, detail, itemId, gradeId, replays } = delivery
  return [
    ['State', <DeliveryState delivery={delivery} />],
    ['Why', detail && lineOf(detail, 500)],
    ['System', <a href={recordUrl(signedIn, 'integrations', lmsKind)}>{kindName(lmsKind)}</a>],
    ['Learner', <Learner signedIn={signedIn} delivery={delivery} otherwise={keys.user} />],
    ['Course', <Course signedIn={signedIn} delivery={delivery} otherwise={keys.course} />],
    [
      'Grade',
      gradeId && (
        <a href={recordUrl(signedIn, 'grades', gradeId)}>{`Item ${lineOf(itemId ?? gradeId, 120)}`}</a>
      ),
    ],
    ['Item', gradeId === null && itemId !== null && <code>{lineOf(itemId, 120)}</code>],
    ['Received', <Minute time={delivery.receivedAt} />],
    ['Processed', <Minute time={delivery.processedAt} />],
    ['Replays', replays > 0 && String(replays)],
    ['ID', <code>{delivery.id}</code>],
  ]
}

/** Asks for the course and the user that are missing and that the other system names. */
function replayForm({ missing, lmsKind, reason }: DeliveryDetails, keys: Keys): RecordForm {
  const isMissing = {
    course: missing.includes('course'),
    user: missing.includes('learner') && reason !== 'user_inactive',
  }
  const asked = (['course', 'user'] as const).filter((noun) => isMissing[noun] && keys[noun] !== undefined)
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

function ReplayNotes({
  signedIn,
  delivery: { missing, lmsKind, reason },
}: {
  signedIn: SignedInRequest
  delivery: DeliveryDetails
}) {
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
