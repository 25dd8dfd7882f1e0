import type { EndpointKind } from '../../contract/endpoints.ts'
import { standardSignatureOf } from '../../lms/standard.ts'
import { type ChatMessage, composeMessage } from './chat-message.ts'
import {
  type Claimed,
  type Delivery,
  type EndpointDelivery,
  type Outcome,
  outcomeOf,
  type Received,
} from './delivery.ts'
import { partsOfSecret, withQuery } from './endpoint-row.ts'
import { xapiDelivery } from './xapi-endpoint.ts'

/**
 * Incoming webhooks of Slack and systems that accept the same (docs.slack.dev, Sending messages using incoming webhooks):
 * due events become one message, at most one a second.
 */
export const slackDelivery: EndpointDelivery = {
  maxMessages: 20,
  maxConcurrent: 1,
  // docs.slack.dev/apis/web-api/rate-limits: one message per second and webhook.
  intervalMs: 1000,

  async deliver(messages, delivery) {
    const body = JSON.stringify(slackMessage(await composeMessage(messages, delivery)))
    const received = await delivery.post({ url: delivery.open(delivery.endpoint.secret), headers: {}, body })
    return slackOutcome(received, delivery.now)
  },
}

/** Limits of Block Kit (docs.slack.dev/reference/block-kit): characters of a section's text, blocks of a message. */
const [maxSectionText, maxBlocks] = [3000, 50] as const
/** Characters of the text for notifications, which Slack recommends. */
const maxText = 4000

/** `verbatim`: links no addresses by itself. */
const section = (text: string) => ({ type: 'section', text: { type: 'mrkdwn', text, verbatim: true } })

export function slackMessage({ title, lines, link }: ChatMessage) {
  const blocks: object[] = [section(escapeMrkdwn(title).slice(0, maxSectionText))]
  let text = ''
  for (const line of lines.map((line) => `• ${escapeMrkdwn(line)}`)) {
    if (text.length + line.length >= maxSectionText) {
      blocks.push(section(text))
      text = ''
    }
    text += text === '' ? line : `\n${line}`
  }
  if (text !== '') blocks.push(section(text))
  const kept = blocks.slice(0, maxBlocks - 1)
  if (link !== null) {
    const url = escapeMrkdwn(link).replaceAll('|', '%7C')
    kept.push({ type: 'context', elements: [{ type: 'mrkdwn', text: `<${url}|Open the dashboard>` }] })
  }
  return { text: escapeMrkdwn([title, ...lines].join('\n')).slice(0, maxText), blocks: kept }
}

/** Characters that format text at the edge of a word, and similar ones that do not. */
const similar: Readonly<Record<string, string>> = { '*': '∗', _: 'ˍ', '~': '∼', '`': 'ˋ' }

/** Replaces those that format, for which there is no escape (docs.slack.dev/messaging/formatting-message-text). */
function escapeMrkdwn(text: string): string {
  return text
    .replace(/(?<![\p{L}\p{N}])[*_~`]|[*_~`](?![\p{L}\p{N}])/gu, (character) => similar[character] ?? '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
}

/**
 * Errors of incoming webhooks (api.slack.com/changelog/2016-05-17-changes-to-errors-for-incoming-webhooks, and the
 * section Handling errors of the documentation).
 */
const slackErrors: Readonly<Record<string, string>> = {
  action_prohibited: 'a setting of the workspace does not allow it',
  channel_is_archived: 'the channel is archived',
  channel_not_found: 'the channel does not exist',
  invalid_blocks: 'Slack cannot read the message',
  invalid_payload: 'Slack cannot read the message',
  invalid_token: 'the URL of the webhook is wrong',
  no_active_hooks: 'the webhook is disabled',
  no_service: 'the webhook was removed or disabled',
  no_service_id: 'the URL of the webhook is wrong',
  no_team: 'the workspace does not exist',
  no_text: 'Slack cannot read the message',
  posting_to_general_channel_denied: 'posting to #general is not allowed',
  rollup_error: 'Slack failed',
  team_disabled: 'the workspace is disabled',
  too_many_attachments: 'Slack cannot read the message',
  user_not_found: 'the user does not exist',
}

/** The same message will meet them again. */
const finalErrors: readonly string[] = [
  'invalid_blocks',
  'invalid_payload',
  'no_text',
  'too_many_attachments',
]

function slackOutcome(received: Received, now: Date): Outcome {
  const outcome = outcomeOf(received, now)
  const answer = received.response.trim()
  if (outcome.kind === 'delivered') {
    if (answer === 'ok') return outcome
    return {
      ...outcome,
      kind: 'failed',
      result: `HTTP ${received.status}, but not from Slack: it answers "ok"`,
    }
  }
  const meaning = slackErrors[answer]
  if (meaning === undefined) return outcome
  const result = `HTTP ${received.status} ${answer}: ${meaning}`
  return { ...outcome, result, kind: finalErrors.includes(answer) ? 'refused' : outcome.kind }
}

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

const teamsErrors: Readonly<Record<string, string>> = {
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
  const meaning = teamsErrors[code]
  return meaning === undefined ? outcome : { ...outcome, result: `HTTP ${status} ${code}: ${meaning}` }
}

const standardDelivery: EndpointDelivery = {
  maxMessages: 1,
  maxConcurrent: 8,
  intervalMs: 0,

  async deliver(messages, delivery) {
    const { endpoint, open } = delivery
    const url = withQuery(endpoint.url, partsOfSecret(open(endpoint.secret)).query)
    const outcomes = []
    for (const message of messages) {
      const headers = signed(message, delivery)
      const received = await delivery.post({ url, headers, body: message.body })
      outcomes.push(outcomeOf(received, delivery.now))
    }
    return outcomes
  },
}

/** Standard Webhooks 1.0.0, Signature scheme. */
function signed({ id, body }: Claimed, { endpoint, now, signedAt, open }: Delivery): Record<string, string> {
  const seconds = Math.floor(signedAt.getTime() / 1000)
  const { secret, previous_secret: previous, previous_secret_until: until } = endpoint
  const counts = previous !== null && until !== null && until > now.toISOString()
  const signatures = [secret, ...(counts ? [previous] : [])].map((text) =>
    standardSignatureOf(partsOfSecret(open(text)).signing, { id, seconds, body }),
  )
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': signatures.join(' '),
  }
}

const deliveries: Readonly<Record<EndpointKind, EndpointDelivery>> = {
  standard: standardDelivery,
  slack: slackDelivery,
  teams: teamsDelivery,
  xapi: xapiDelivery,
}

export function deliveryOf({ kind }: { readonly kind: string }): EndpointDelivery {
  return deliveries[kind as EndpointKind]
}
