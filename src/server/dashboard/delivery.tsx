import { lineOf } from '../../codec/display-text.ts'
import { type DeliveryDetails, deliveries } from '../../contract/deliveries.ts'
import { integrations } from '../../contract/integrations.ts'
import { mappingKeys } from '../../lms/read-event.ts'
import type { Reply } from '../http/reply.ts'
import { requireKind } from '../integrations/integration.ts'
import { seeOther } from '../pages/page.tsx'
import { ProblemError } from '../problem-error.ts'
import { ask, type SignedInRequest, writeFor } from './call-api.ts'
import type { DashboardPage } from './dashboard-page.ts'
import { Course, DeliveryState, eventName, kindName, Learner } from './deliveries.tsx'
import { Faults, Field, type FilledIn, Form } from './form.tsx'
import { addressOf, framePage } from './frame.tsx'
import { referenceOf } from './mappings.tsx'
import { Document, Facts, Minute } from './values.tsx'

type Keys = ReturnType<typeof mappingKeys>

const labels = { course: 'Course here', user: 'Learner here' }

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
  try {
    const settings = await ask(signedIn, integrations.get, { params: { lmsKind } })
    return mappingKeys(requireKind(lmsKind), body, settings)
  } catch (error) {
    if (error instanceof ProblemError && error.status === 404) return { course: undefined, user: undefined }
    throw error
  }
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
    { title: fault ? 'Error: delivery' : 'Delivery', section: '/dashboard/integrations', fault },
    <>
      <p class="back">
        <a href={`${base}/dashboard/deliveries`}>Deliveries</a>
      </p>
      <h1>{eventName(delivery, 120)}</h1>
      <section class="card" aria-labelledby="facts">
        <h2 id="facts">Details</h2>
        <DeliveryFacts delivery={delivery} keys={keys} base={base} />
      </section>
      {delivery.status === 'applied' || delivery.body === null ? null : (
        <section class="card short" aria-labelledby="replay">
          <h2 id="replay">Replay</h2>
          <ReplayForm {...{ signedIn, form, fault, delivery, keys }} />
        </section>
      )}
      <section class="card" aria-labelledby="payload">
        <h2 id="payload">Payload</h2>
        {delivery.body === null ? <p>The payload is not kept.</p> : <Document text={delivery.body} />}
      </section>
    </>,
  )
}

function DeliveryFacts({ delivery, keys, base }: { delivery: DeliveryDetails; keys: Keys; base: string }) {
  const { lmsKind, detail, itemId, gradeId, replays } = delivery
  const facts = [
    ['State', <DeliveryState delivery={delivery} />],
    ...(detail === null ? [] : [['Why', lineOf(detail, 500)] as const]),
    [
      'System',
      <a href={`${base}/dashboard/integrations/${encodeURIComponent(lmsKind)}`}>{kindName(lmsKind)}</a>,
    ],
    ['Learner', <Learner base={base} delivery={delivery} otherwise={keys.user} />],
    ['Course', <Course base={base} delivery={delivery} otherwise={keys.course} />],
    ...(gradeId === null
      ? []
      : [
          [
            'Grade',
            <a href={`${base}/dashboard/grades/${encodeURIComponent(gradeId)}`}>
              {`Item ${lineOf(itemId ?? gradeId, 120)}`}
            </a>,
          ] as const,
        ]),
    ...(gradeId !== null || itemId === null ? [] : [['Item', <code>{lineOf(itemId, 120)}</code>] as const]),
    ['Received', <Minute time={delivery.receivedAt} />],
    ['Processed', <Minute time={delivery.processedAt} />],
    ...(replays === 0 ? [] : [['Replays', String(replays)] as const]),
    ['ID', <code>{delivery.id}</code>],
  ] as const
  return <Facts facts={facts} />
}

function ReplayForm({
  signedIn,
  form,
  fault,
  delivery: { missing, lmsKind, reason },
  keys,
}: FilledIn & { delivery: DeliveryDetails; keys: Keys }) {
  const needed = [
    { noun: 'course', isMissing: missing.includes('course') },
    { noun: 'user', isMissing: missing.includes('learner') && reason !== 'user_inactive' },
  ] as const
  const asked = needed.filter(({ noun, isMissing }) => isMissing && keys[noun] !== undefined)
  return (
    <Form signedIn={signedIn} label="Replay the delivery">
      <Faults fault={fault} labels={labels} />
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
          <a href={`${signedIn.base}/dashboard/integrations/${encodeURIComponent(lmsKind)}#gradeItems`}>
            {`graded items of ${kindName(lmsKind)}`}
          </a>
          , then replay.
        </p>
      ) : null}
      {asked.map(({ noun }) => (
        <Field
          name={noun}
          label={labels[noun]}
          hint={`${kindName(lmsKind)} has it as ${lineOf(keys[noun] ?? '', 80)}. Enter its id${noun === 'user' ? ', ext:<externalId> or e-mail address' : ' or ext:<externalId>'}`}
          fault={fault}
          value={form.get(noun) ?? ''}
          maxlength={300}
          autocomplete="off"
          spellcheck={false}
        />
      ))}
      <div class="actions">
        <button type="submit">{asked.length > 0 ? 'Map and replay' : 'Replay'}</button>
      </div>
    </Form>
  )
}
