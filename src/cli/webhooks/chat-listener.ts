import { randomBytes } from 'node:crypto'
import { isJsonObject, parseJsonOrNull } from '../../codec/json-text.ts'
import { type Listener, listenOnLoopback } from './loopback-server.ts'

export const chatKinds = ['slack', 'teams'] as const
export type ChatKind = (typeof chatKinds)[number]

/** A message as people read it in a channel: its lines, and where its link leads. */
export interface ReadableMessage {
  readonly lines: readonly string[]
  readonly link: string | null
}

/** Answers as the chat does. Refuses requests without the secret path of the URL. */
export async function listenAsChat(
  kind: ChatKind,
  onMessage: (message: ReadableMessage) => Promise<void>,
): Promise<Listener> {
  const path = `/${kind}/${randomBytes(24).toString('base64url')}`
  const { origin, close } = await listenOnLoopback(async (request, body) => {
    if (request.method !== 'POST' || request.url !== path) return { status: 404, body: 'no_service' }
    const message = readers[kind](parseJsonOrNull(body.toString('utf8')))
    if (!message) return { status: 400, body: 'invalid_payload' }
    await onMessage(message)
    return kind === 'slack' ? { status: 200, body: 'ok' } : { status: 202 }
  })
  return { url: origin + path, close }
}

/** Undefined for another payload. */
const readers: Readonly<Record<ChatKind, (payload: unknown) => ReadableMessage | undefined>> = {
  slack: readSlack,
  teams: readTeams,
}

function readSlack(payload: unknown): ReadableMessage | undefined {
  const blocks = membersOf(payload, 'blocks')
  const texts = blocks.flatMap((block) => [block['text'], ...membersOf(block, 'elements')])
  const all = texts.flatMap((text) => (isJsonObject(text) ? String(text['text']) : []))
  if (all.length === 0) return undefined
  const [, link = null] = /<([^|>]+)\|[^>]+>/.exec(all.join('\n')) ?? []
  const lines = all.filter((text) => !text.startsWith('<')).flatMap((text) => text.split('\n'))
  return { lines: lines.map(unescapeText), link: link === null ? null : unescapeText(link) }
}

function unescapeText(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
}

function readTeams(payload: unknown): ReadableMessage | undefined {
  const card = membersOf(payload, 'attachments')[0]?.['content']
  const runs = membersOf(card, 'body').flatMap((block) => membersOf(block, 'inlines'))
  if (runs.length === 0) return undefined
  const url = membersOf(card, 'actions')[0]?.['url']
  return { lines: runs.map(({ text }) => String(text)), link: typeof url === 'string' ? url : null }
}

/** None for anything else. */
function membersOf(value: unknown, name: string) {
  const list = isJsonObject(value) ? value[name] : undefined
  return Array.isArray(list) ? list.filter(isJsonObject) : []
}
