import { createServer, type ServerResponse } from 'node:http'
import { onTestFinished } from 'vitest'
import { listen } from './listen.ts'

interface SlackMessage {
  readonly text: string
  readonly blocks: readonly {
    readonly type: string
    readonly text?: { readonly type: string; readonly text: string }
    readonly elements?: readonly { readonly type: string; readonly text: string }[]
  }[]
}

/** Wrong answers: status, text and headers. */
const wrong = {
  login_page: [200, '<!DOCTYPE html><title>Sign in</title>', { 'content-type': 'text/html' }],
  empty: [200, ''],
  echo: [500, 'cannot post to $path'],
  rate_limited: [429, 'rate_limited', { 'retry-after': '30' }],
  no_service: [404, 'no_service'],
  channel_not_found: [404, 'channel_not_found'],
  channel_is_archived: [410, 'channel_is_archived'],
  action_prohibited: [403, 'action_prohibited'],
  invalid_payload: [400, 'invalid_payload'],
  rollup_error: [500, 'rollup_error'],
} satisfies Readonly<Record<string, readonly [number, string, Record<string, string>?]>>

/** The path of its webhook. */
const slackPath = '/services/T0001/B0002/XyZ0123456789abcdefghijk'

/**
 * Starts incoming webhooks of Slack on the loopback, by docs.slack.dev (Sending messages using incoming webhooks; Block Kit
 * reference; Rate limits) and api.slack.com/changelog/2016-05-17-changes-to-errors-for-incoming-webhooks: `ok` as
 * text, errors as a word, and with a clock one message a second.
 */
export async function startSlack(now?: () => Date) {
  let lastMs = Number.NEGATIVE_INFINITY
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const piece of request) body += String(piece)
    slack.requests.push({ path: request.url ?? '', body })
    if (slack.fault !== undefined) {
      const [status, text, headers] = wrong[slack.fault]
      return end(response, status, text.replace('$path', request.url ?? ''), headers)
    }
    if (request.method !== 'POST' || request.url !== slackPath) return end(response, 404, 'no_service')
    const ms = now?.().getTime()
    if (ms !== undefined && ms - lastMs < 1000) {
      return end(response, 429, 'rate_limited', { 'retry-after': '1' })
    }
    const message = messageIn(body)
    if (!message) return end(response, 400, 'invalid_payload')
    if (message.blocks.length > 50 || message.blocks.some(isTooLong))
      return end(response, 400, 'invalid_blocks')
    lastMs = ms ?? lastMs
    slack.messages.push(message)
    end(response, 200, 'ok')
  })
  const { port, close } = await listen(server)
  onTestFinished(close)
  const slack = {
    url: `http://127.0.0.1:${port}${slackPath}`,
    /** Messages in the channel. */
    messages: [] as SlackMessage[],
    /** Requests, also refused ones. */
    requests: [] as { readonly path: string; readonly body: string }[],
    /** How it answers wrong; undefined for right. */
    fault: undefined as keyof typeof wrong | undefined,
  }
  return slack
}

function isTooLong({ type, text }: SlackMessage['blocks'][number]): boolean {
  return type === 'section' && (text === undefined || text.text.length === 0 || text.text.length > 3000)
}

function messageIn(body: string): SlackMessage | undefined {
  try {
    const message = JSON.parse(body)
    return typeof message.text === 'string' && Array.isArray(message.blocks) ? message : undefined
  } catch {
    return undefined
  }
}

function end(
  response: ServerResponse,
  status: number,
  text: string,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'text/plain', ...headers }).end(text)
}
