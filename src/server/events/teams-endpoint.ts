import { type ChatMessage, composeMessage } from './chat-message.ts'
import { type EndpointDelivery, type Outcome, outcomeOf, type Received } from './delivery.ts'

/**
 * Workflows of Microsoft Teams (learn.microsoft.com, Create incoming webhooks with Workflows): due events become one
 * Adaptive Card. A workflow accepts a request before it runs, so success says nothing about the channel.
 */
export const teamsDelivery: EndpointDelivery = {
  maxMessages: 20,
  maxConcurrent: 1,
  // The limit is four requests a second.
  intervalMs: 1000,

  async deliver(messages, delivery) {
    const body = teamsBody(await composeMessage(messages, delivery))
    const received = await delivery.post({ url: delivery.open(delivery.endpoint.secret), headers: {}, body })
    return teamsOutcome(received, delivery.now)
  },
}

const maxBytes = 28 * 1024

/** Leaves out the last lines of a message that is too large. */
export function teamsBody(message: ChatMessage): string {
  for (let lines = message.lines; ; lines = lines.slice(0, -1)) {
    const left = message.lines.length - lines.length
    const shown = left === 0 ? lines : [...lines, `… and ${left} more`]
    const body = JSON.stringify(teamsMessage({ ...message, lines: shown }))
    if (Buffer.byteLength(body) <= maxBytes || lines.length === 0) return body
  }
}

/** Text runs are shown as they are: unlike a TextBlock, they have no Markdown. */
const textOf = (text: string, more: object = {}) => ({
  type: 'RichTextBlock',
  inlines: [{ type: 'TextRun', text, ...more }],
})

/** Adaptive Card 1.4, the newest version that workflows show. */
export function teamsMessage({ title, lines, link }: ChatMessage) {
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [
      textOf(title, lines.length > 0 ? { weight: 'Bolder' } : {}),
      ...lines.map((line) => textOf(`• ${line}`)),
    ],
    ...(link !== null && { actions: [{ type: 'Action.OpenUrl', title: 'Open the dashboard', url: link }] }),
  }
  return {
    type: 'message',
    attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content }],
  }
}

/** By the code in the response. */
const errors: Readonly<Record<string, string>> = {
  AuthorizationFailed: 'the URL of the workflow is wrong or has expired',
  DirectApiAuthorizationRequired: 'the URL of the workflow has no signature; copy it again',
  DirectApiInvalidAuthorizationScheme: 'only people of the organization may start the workflow; allow anyone',
  InvalidRequestContent: 'the workflow cannot read the message',
  TriggerInputSchemaMismatch:
    'the workflow expects another message; create it from the template for channels',
  WorkflowNotFound: 'the workflow was deleted',
  WorkflowTriggerIsNotEnabled: 'the workflow is turned off',
}

/** Accepted requests have an empty body, or JSON or `1` of older webhooks. */
function teamsOutcome(received: Received, now: Date): Outcome {
  const outcome = outcomeOf(received, now)
  const { status, response } = received
  if (outcome.kind === 'delivered') {
    if (/^\s*</.test(response)) {
      return { ...outcome, kind: 'failed', result: `HTTP ${status}, but a web page, not a workflow` }
    }
    if (/error/i.test(response)) {
      return { ...outcome, kind: 'failed', result: `HTTP ${status}, but with an error: see the response` }
    }
    return { ...outcome, result: `HTTP ${status}: accepted; look in the channel` }
  }
  const [, code = ''] = /"code"\s*:\s*"(\w+)"/.exec(response) ?? []
  const meaning = errors[code]
  return meaning === undefined ? outcome : { ...outcome, result: `HTTP ${status} ${code}: ${meaning}` }
}
