import { lineOf } from '../../codec/display-text.ts'
import { endpoints } from '../../contract/endpoints.ts'
import { type Attempt, messages } from '../../contract/messages.ts'
import type { Reply } from '../http/reply.ts'
import { seeOther } from '../pages/page.tsx'
import { ProblemError } from '../problem-error.ts'
import { ask, type SignedInRequest, write } from './call-api.ts'
import type { DashboardPage } from './dashboard-page.ts'
import { Faults, Form } from './form.tsx'
import { addressOf, framePage } from './frame.tsx'
import { type List, ListCard } from './list.tsx'
import { Document, Facts, formatCount, Minute } from './values.tsx'

const [section, list] = ['/dashboard/integrations', '/dashboard/endpoints'] as const

export const messagePage: DashboardPage = {
  path: '/dashboard/messages/:messageId',
  show: (signedIn) => showMessage(signedIn),
  again: showMessage,

  async act(signedIn) {
    const { id } = await write(signedIn, messages.resend)
    return seeOther(addressOf(signedIn, `/dashboard/messages/${encodeURIComponent(id)}`, 'message_resent'))
  },
}

async function showMessage(signedIn: SignedInRequest, fault?: ProblemError): Promise<Reply> {
  const { base } = signedIn
  const message = await ask(signedIn, messages.get)
  const endpoint = await endpointOf(signedIn, message.endpointId)
  const facts = [
    ['State', <span class={`state ${message.status}`}>{message.status}</span>],
    [
      'Endpoint',
      endpoint ? (
        <a href={`${base}${list}/${encodeURIComponent(endpoint.id)}`}>{lineOf(endpoint.url, 200)}</a>
      ) : (
        'Deleted'
      ),
    ],
    ['About', <Subject base={base} id={message.subject} />],
    ['Happened', <Minute time={message.createdAt} />],
    ...(message.nextAttemptAt === null
      ? []
      : [['Next attempt', <Minute time={message.nextAttemptAt} />] as const]),
    ...(message.finishedAt === null ? [] : [['Finished', <Minute time={message.finishedAt} />] as const]),
    ['ID', <code>{message.id}</code>],
  ] as const
  return framePage(
    signedIn,
    { title: fault ? 'Error: webhook message' : 'Webhook message', section, fault },
    <>
      <p class="back">
        {endpoint ? (
          <a href={`${base}${list}/${encodeURIComponent(endpoint.id)}`}>{lineOf(endpoint.url, 80)}</a>
        ) : (
          <a href={`${base}${list}`}>Webhook endpoints</a>
        )}
      </p>
      <h1>{message.type}</h1>
      <Faults fault={fault} labels={{}} />
      <section class="card" aria-labelledby="facts">
        <h2 id="facts">Details</h2>
        <Facts facts={facts} />
        {endpoint?.status === 'active' ? (
          <Form signedIn={signedIn} label="Replay the message">
            <div class="actions">
              <button type="submit">Replay</button>
            </div>
          </Form>
        ) : null}
      </section>
      <ListCard
        signedIn={signedIn}
        list={attemptList}
        listed={{ data: message.attempts }}
        none={<p>Not sent yet.</p>}
      />
      <section class="card" aria-labelledby="body">
        <h2 id="body">Body</h2>
        <Document text={message.body} />
      </section>
    </>,
  )
}

function Subject({ base, id }: { base: string; id: string }) {
  const name = <code>{lineOf(id, 64)}</code>
  const place = id.startsWith('usr_') ? 'learners' : id.startsWith('crs_') ? 'courses' : undefined
  return place ? <a href={`${base}/dashboard/${place}/${encodeURIComponent(id)}`}>{name}</a> : name
}

/** Undefined if it was deleted. */
async function endpointOf(signedIn: SignedInRequest, endpointId: string) {
  try {
    return await ask(signedIn, endpoints.get, { params: { endpointId } })
  } catch (error) {
    if (error instanceof ProblemError && error.status === 404) return undefined
    throw error
  }
}

const attemptList: List<Attempt> = {
  id: 'attempts',
  title: 'Attempts',
  caption: 'Attempts to deliver the message',
  columns: [
    { name: 'Attempt', cell: ({ number }) => formatCount(number) },
    { name: 'Started', cell: ({ startedAt }) => <Minute time={startedAt} /> },
    { name: 'Duration', look: 'figures', cell: ({ durationMs }) => `${formatCount(durationMs)} ms` },
    {
      name: 'HTTP status',
      look: 'figures',
      cell: ({ status }) => (status === null ? '–' : String(status)),
    },
    { name: 'Result', look: 'broad', cell: ({ result }) => lineOf(result, 200) },
    {
      name: 'Response',
      look: 'broad',
      cell: ({ response }) =>
        response === '' ? <span class="none">–</span> : <code>{lineOf(response, 300)}</code>,
    },
  ],
}
