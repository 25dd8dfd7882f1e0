import { constants, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import type { Store } from '../database/database.ts'
import { idMaker } from '../database/id.ts'
import { openReader } from '../database/sqlite/sqlite.ts'
import { shortenLog } from '../database/sqlite/write-ahead-log.ts'
import { allEndpoints } from '../endpoints.ts'
import { type Answerer, answererOf } from '../http/app.ts'
import { outgoingWhenNeeded } from '../outgoing/outgoing-when-needed.ts'
import { resourceIn, routesFor } from '../routes.ts'
import { createSealing } from '../sealing/sealing.ts'
import { type FromThread, piecesAhead, type ThreadData, type ToThread } from './message.ts'

// A thread of the server: it answers requests as the server itself does, on a connection of its own that only reads.

/** A body that is on its way. */
interface Pouring {
  /** Pieces that may be sent before one more is taken. */
  room: number
  left: boolean
  goOn: () => void
}

const { path, postgres, publicUrl, fixedTime } = workerData as ThreadData
const pouring = new Map<number, Pouring>()
const now = () => (fixedTime === undefined ? new Date() : new Date(fixedTime))
const app = openDatabase().then((database) => {
  // No row read here is a secret, and no request leaves this thread.
  const others = { sealing: createSealing(undefined), outgoing: outgoingWhenNeeded({ loopback: false }) }
  return { database, now, newId: idMaker(now), perMinute: 0, publicUrl, ...others, log: () => {} }
})
const operations = app.then((opened) => answererOf(opened, (target) => routesFor(resourceIn(target)), []))
let pages: Promise<Answerer> | undefined

// The thread that answers everybody else comes first. Elsewhere than on Linux this would be the whole process.
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
  return answererOf(await app, () => [], await allEndpoints())
}

async function answer({ id, request, principal }: Extract<ToThread, { kind: 'request' }>): Promise<void> {
  pages ??= principal ? undefined : loadPages()
  const answerer = await (principal ? operations : pages)
  if (!answerer) return
  const { reply, cause, principal: asked } = await answerer(request, principal)
  const { body, ...head } = reply
  const told = { ...head, principal: asked, cause }
  if (body === null || typeof body === 'string') {
    send({ kind: 'reply', id, reply: { ...told, body }, streamed: false })
    return
  }
  const flow: Pouring = { room: piecesAhead, left: false, goOn: () => {} }
  pouring.set(id, flow)
  send({ kind: 'reply', id, reply: { ...told, body: null }, streamed: true })
  try {
    await pour(id, flow, body)
    send({ kind: 'end', id })
  } finally {
    pouring.delete(id)
    if (pouring.size === 0 && !postgres) shortenLog(path)
  }
}

async function pour(id: number, flow: Pouring, body: AsyncIterable<string | Uint8Array>): Promise<void> {
  for await (const piece of body) {
    if (flow.left) return
    if (flow.room === 0) {
      await new Promise<void>((resolve) => {
        flow.goOn = resolve
      })
    }
    if (flow.left) return
    flow.room -= 1
    send({ kind: 'piece', id, piece })
  }
}

parentPort?.on('message', (message: ToThread) => {
  const { id } = message
  if (message.kind === 'request') {
    // Not in the turn of the reply before it, which may have been read by now: what is true since then is to be seen.
    setImmediate(() => {
      answer(message).catch((cause: unknown) => send({ kind: 'broken', id, cause }))
    })
    return
  }
  const flow = pouring.get(id)
  if (!flow) return
  if (message.kind === 'taken') flow.room += 1
  else flow.left = true
  flow.goOn()
})
