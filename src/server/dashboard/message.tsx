import { lineOf } from '../../codec/display-text.ts'
import { endpoints } from '../../contract/endpoints.ts'
import { type Attempt, messages } from '../../contract/messages.ts'
import { Card } from '../../report/elements.tsx'
import type { Reply } from '../http/reply.ts'
import { seeOther } from '../pages/page.tsx'
import type { ProblemError } from '../problem-error.ts'
import { ask, askOrNone, type SignedInRequest, write } from './call-api.ts'
import type { DashboardPage } from './dashboard-page.ts'
import { Faults, Form } from './form.tsx'
import { addressOf, framePage } from './frame.tsx'
import { type List, ListCard } from './list.tsx'
import { Details, Document, formatCount, Minute, none, recordUrl } from './values.tsx'

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
  const { endpointId } = message
  // It may have been deleted since.
  const endpoint = await askOrNone(signedIn, endpoints.get, { params: { endpointId } })
  const { id, status, subject, createdAt, nextAttemptAt, finishedAt } = message
  const endpointLink = (maxLength: number) =>
    endpoint && <a href={recordUrl(signedIn, 'endpoints', endpoint.id)}>{lineOf(endpoint.url, maxLength)}</a>
  const facts = [
    ['State', <span class={`state ${status}`}>{status}</span>],
    ['Endpoint', endpointLink(200) ?? 'Deleted'],
    ['About', <Subject signedIn={signedIn} id={subject} />],
    ['Happened', <Minute time={createdAt} />],
    ['Next attempt', nextAttemptAt && <Minute time={nextAttemptAt} />],
    ['Finished', finishedAt && <Minute time={finishedAt} />],
    ['ID', <code>{id}</code>],
  ] as const
  return framePage(
    signedIn,
    { title: 'Webhook message', section, fault },
    <>
      <p class="back">{endpointLink(80) ?? <a href={`${base}${list}`}>Webhook endpoints</a>}</p>
      <h1>{message.type}</h1>
      <Faults fault={fault} />
      <Details facts={facts}>
        {endpoint?.status === 'active' ? (
          <Form signedIn={signedIn} label="Replay the message">
            <div class="actions">
              <button type="submit">Replay</button>
            </div>
          </Form>
        ) : null}
      </Details>
      <ListCard
        signedIn={signedIn}
        list={attemptList}
        listed={{ data: message.attempts }}
        none="Not sent yet."
      />
      <Card id="body" title="Body">
        <Document text={message.body} />
      </Card>
    </>,
  )
}

function Subject({ signedIn, id }: { signedIn: SignedInRequest; id: string }) {
  const name = <code>{lineOf(id, 64)}</code>
  const place = id.startsWith('usr_') ? 'learners' : id.startsWith('crs_') ? 'courses' : undefined
  return place ? <a href={recordUrl(signedIn, place, id)}>{name}</a> : name
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
      cell: ({ response }) => (response === '' ? none : <code>{lineOf(response, 300)}</code>),
    },
  ],
}
