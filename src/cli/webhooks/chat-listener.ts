import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { isJsonObject } from '../../codec/json-text.ts'

/** Chats that this machine can stand in for. */
export const chatKinds = ['slack', 'teams'] as const
export type ChatKind = (typeof chatKinds)[number]

/** A message as people read it in a channel: its lines, and where its link leads. */
export interface ReadableMessage {
  readonly lines: readonly string[]
  readonly link: string | null
}

interface ChatListener {
  /** Has a secret path, as that of a chat. */
  readonly url: string
  close(): Promise<void>
}

/** Larger than any message. */
const maxBytes = 64 * 1024

/** Listens on a free loopback port, and answers as the chat does. Refuses requests without the secret path. */
export async function listenAsChat(
  kind: ChatKind,
  onMessage: (message: ReadableMessage) => Promise<void>,
): Promise<ChatListener> {
  const { createServer } = await import('node:http')
  const path = `/${kind}/${randomBytes(24).toString('base64url')}`
  const server = createServer(async (request, response) => {
    try {
      let body = ''
      for await (const piece of request) {
        body += String(piece)
        if (body.length > maxBytes) return response.writeHead(413).end()
      }
      if (request.method !== 'POST' || request.url !== path) return response.writeHead(404).end('no_service')
      const message = readers[kind](JSON.parse(body))
      if (!message) return response.writeHead(400).end('invalid_payload')
      await onMessage(message)
      return kind === 'slack' ? response.writeHead(200).end('ok') : response.writeHead(202).end()
    } catch {
      return response.writeHead(400).end('invalid_payload')
    }
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  // A TCP server's address has a port.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}${path}`,
    close: async () => {
      server.close()
      server.closeAllConnections()
    },
  }
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
