import { type ChatMessage, composeMessage } from './chat-message.ts'
import { type EndpointDelivery, type Outcome, outcomeOf, type Received } from './delivery.ts'

/**
 * Incoming webhooks of Slack and of systems that accept the same (docs.slack.dev, Sending messages using incoming
 * webhooks): due events become one message, at most one a second.
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

/** Of Block Kit; links no addresses by itself. */
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

/**
 * Escapes the control characters of Slack (docs.slack.dev/messaging/formatting-message-text), and replaces those that
 * format, for which there is no escape.
 */
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
const errors: Readonly<Record<string, string>> = {
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

/** Only the text `ok` means success. */
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
  const meaning = errors[answer]
  if (meaning === undefined) return outcome
  const result = `HTTP ${received.status} ${answer}: ${meaning}`
  return { ...outcome, result, kind: finalErrors.includes(answer) ? 'refused' : outcome.kind }
}
