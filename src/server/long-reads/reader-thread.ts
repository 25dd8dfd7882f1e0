import { constants, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { createSealing } from '../access/sealing.ts'
import type { Store } from '../database/database.ts'
import { idMaker } from '../database/id.ts'
import { shortenLog } from '../database/sqlite/connection.ts'
import { openReader } from '../database/sqlite/sqlite.ts'
import { type Answerer, createAnswerer } from '../http/app.ts'
import { createLazyOutgoing } from '../outgoing/outgoing-when-needed.ts'
import { loadAllWebRoutes, resourceIn, routesFor } from '../routes.ts'
import { type FromThread, maxPiecesAhead, type ThreadData, type ToThread } from './message.ts'

interface Flow {
  /** Pieces that may be sent before the reader takes one more. */
  room: number
  isGone: boolean
  resume: () => void
}

const { path, postgres, publicUrl, fixedTime } = workerData as ThreadData
const flows = new Map<number, Flow>()
const now = () => (fixedTime === undefined ? new Date() : new Date(fixedTime))
const app = openDatabase().then((database) => {
  // Long reads decrypt no secrets and send no requests.
  const others = { sealing: createSealing(undefined), outgoing: createLazyOutgoing({ loopback: false }) }
  return { database, now, newId: idMaker(now), perMinute: 0, publicUrl, ...others, log: () => {} }
})
const operations = app.then((opened) => createAnswerer(opened, (target) => routesFor(resourceIn(target)), []))
let pages: Promise<Answerer> | undefined

// Prefers the main thread. Only Linux has priorities by thread; elsewhere this would affect the whole process.
if (process.platform === 'linux') setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL)

async function openDatabase(): Promise<Store> {
  if (!postgres) return openReader(path)
  const { openPostgresReader } = await import('../database/postgres/open-postgres.ts')
  return openPostgresReader(postgres)
}

function send(message: FromThread): void {
  parentPort?.postMessage(message)
}

async function loadPages(): Promise<Answerer> {
  return createAnswerer(await app, () => [], await loadAllWebRoutes())
}

async function answer({ id, request, principal }: Extract<ToThread, { kind: 'request' }>): Promise<void> {
  pages ??= principal ? undefined : loadPages()
  const answerer = await (principal ? operations : pages)
  if (!answerer) return
  const { reply, cause, principal: caller } = await answerer(request, principal)
  const { body, ...head } = reply
  const replyHead = { ...head, principal: caller, cause }
  if (body === null || typeof body === 'string') {
    send({ kind: 'reply', id, reply: { ...replyHead, body }, streamed: false })
    return
  }
  const flow: Flow = { room: maxPiecesAhead, isGone: false, resume: () => {} }
  flows.set(id, flow)
  send({ kind: 'reply', id, reply: { ...replyHead, body: null }, streamed: true })
  try {
    await sendBody(id, flow, body)
    send({ kind: 'end', id })
  } finally {
    flows.delete(id)
    if (flows.size === 0 && !postgres) shortenLog(path)
  }
}

async function sendBody(id: number, flow: Flow, body: AsyncIterable<string | Uint8Array>): Promise<void> {
  for await (const piece of body) {
    if (flow.isGone) return
    if (flow.room === 0) {
      await new Promise<void>((resolve) => {
        flow.resume = resolve
      })
    }
    if (flow.isGone) return
    flow.room -= 1
    send({ kind: 'piece', id, piece })
  }
}

parentPort?.on('message', (message: ToThread) => {
  const { id } = message
  if (message.kind === 'request') {
    // In a later turn than the previous reply: a client that has read it must see a newer snapshot.
    setImmediate(() => {
      answer(message).catch((cause: unknown) => send({ kind: 'broken', id, cause }))
    })
    return
  }
  const flow = flows.get(id)
  if (!flow) return
  if (message.kind === 'read') flow.room += 1
  else flow.isGone = true
  flow.resume()
})
