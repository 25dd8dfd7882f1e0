import { constants, setPriority } from 'node:os'
import { ReadableStream } from 'node:stream/web'
import { parentPort, workerData } from 'node:worker_threads'
import { createSealing } from '../access/sealing.ts'
import type { Store } from '../database/database.ts'
import { idMaker } from '../database/id.ts'
import { shortenLog } from '../database/sqlite/connection.ts'
import { openReader } from '../database/sqlite/sqlite.ts'
import { type Answerer, createAnswerer } from '../http/app.ts'
import { createLazyOutgoing } from '../outgoing/outgoing-when-needed.ts'
import { loadAllWebRoutes, resourceIn, routesFor } from '../routes.ts'
import type { FromThread, Piece, ThreadData, ToThread } from './long-reads.ts'

const { path, postgres, publicUrl, fixedTime } = workerData as ThreadData
let bodies = 0
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

function send(message: FromThread, transferred: ReadableStream[] = []): void {
  parentPort?.postMessage(message, transferred)
}

async function loadPages(): Promise<Answerer> {
  return createAnswerer(await app, () => [], await loadAllWebRoutes())
}

async function answer({ id, request, principal }: ToThread): Promise<void> {
  pages ??= principal ? undefined : loadPages()
  const answerer = await (principal ? operations : pages)
  if (!answerer) return
  const { body, ...head } = await answerer(request, principal)
  if (body === null || typeof body === 'string') send({ kind: 'reply', id, reply: { ...head, body } })
  else {
    const stream = ReadableStream.from(readWhole(body))
    send({ kind: 'reply', id, reply: { ...head, body: stream } }, [stream])
  }
}

async function* readWhole(body: AsyncIterable<Piece>): AsyncGenerator<Piece, undefined> {
  bodies += 1
  try {
    yield* body
  } finally {
    bodies -= 1
    if (bodies === 0 && !postgres) shortenLog(path)
  }
}

parentPort?.on('message', (message: ToThread) => {
  // In a later turn than the previous reply: a client that has read it must see a newer snapshot.
  setImmediate(() => {
    answer(message).catch((cause: unknown) => send({ kind: 'broken', id: message.id, cause }))
  })
})
