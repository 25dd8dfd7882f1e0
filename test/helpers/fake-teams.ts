import { createServer, type ServerResponse } from 'node:http'
import { onTestFinished } from 'vitest'
import { listen } from './listen.ts'

/**
 * A workflow of Microsoft Teams with the trigger "When a Teams webhook request is received", on the loopback
 * (learn.microsoft.com, Create incoming webhooks with Workflows for Microsoft Teams; the limit of 28 KB from its
 * section on limits). It accepts a request with 202 and an empty body before the flow runs, and so also if the flow
 * then fails (louislam/uptime-kuma#4922).
 */
interface FakeTeams {
  readonly url: string
  /** Cards in the channel. */
  readonly cards: TeamsCard[]
  readonly requests: { readonly path: string; readonly body: string }[]
  /** Accepted requests whose flow failed. */
  failedFlows: number
  /** How it answers wrong; undefined for right. */
  fault: TeamsFault | undefined
}

interface TeamsCard {
  readonly type: string
  readonly version: string
  readonly body: readonly { readonly type: string; readonly inlines: readonly { readonly text: string }[] }[]
  readonly actions?: readonly { readonly type: string; readonly title: string; readonly url: string }[]
}

type TeamsFault =
  | 'failing_flow'
  | 'login_page'
  | 'error_with_200'
  | 'rate_limited'
  | 'unauthorized'
  | 'deleted'
  | 'turned_off'
  | 'bad_gateway'

const errorWith200 =
  'Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 429'

/** Wrong answers, before the flow would run. */
const wrong: Partial<Record<TeamsFault, (response: ServerResponse) => void>> = {
  login_page: (response) =>
    void response.writeHead(200).end('<html><title>Sign in to your account</title></html>'),
  error_with_200: (response) => void response.writeHead(200).end(errorWith200),
  rate_limited: (response) => void response.writeHead(429, { 'retry-after': '20' }).end(),
  bad_gateway: (response) => void response.writeHead(502).end(),
  unauthorized: (response) => refuse(response, 401, 'DirectApiAuthorizationRequired'),
  deleted: (response) => refuse(response, 404, 'WorkflowNotFound'),
  turned_off: (response) => refuse(response, 400, 'WorkflowTriggerIsNotEnabled'),
}

const path = '/workflows/0f1e2d3c4b5a69788796a5b4c3d2e1f0/triggers/manual/paths/invoke'
const search =
  '?api-version=2016-06-01&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=Qm9vIUJvbyFCb28hQm9vIUJvbyFCb28hQm9v'

/** Starts a workflow. */
export async function startTeams(): Promise<FakeTeams> {
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const piece of request) body += String(piece)
    teams.requests.push({ path: request.url ?? '', body })
    const answerWrong = teams.fault && wrong[teams.fault]
    if (answerWrong) return answerWrong(response)
    if (request.url !== path + search) return refuse(response, 401, 'AuthorizationFailed')
    if (Buffer.byteLength(body) > 28 * 1024) return refuse(response, 413, 'RequestEntityTooLarge')
    const card = cardIn(body)
    if (card && teams.fault !== 'failing_flow') teams.cards.push(card)
    else teams.failedFlows += 1
    response.writeHead(202).end()
  })
  const { port, close } = await listen(server)
  onTestFinished(close)
  const teams: FakeTeams = {
    url: `http://127.0.0.1:${port}${path}${search}`,
    cards: [],
    requests: [],
    failedFlows: 0,
    fault: undefined,
  }
  return teams
}

/** The flow posts each attachment; it fails for anything but an Adaptive Card. */
function cardIn(body: string): TeamsCard | undefined {
  try {
    const { type, attachments } = JSON.parse(body)
    const [{ contentType, content }] = attachments
    const isCard =
      contentType === 'application/vnd.microsoft.card.adaptive' && content.type === 'AdaptiveCard'
    return type === 'message' && isCard ? content : undefined
  } catch {
    return undefined
  }
}

function refuse(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ error: { code, message: 'The request was refused.' } }))
}
