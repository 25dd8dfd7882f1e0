import { join } from 'node:path'
import { Agent, request } from 'undici'
import { openAcademy } from '../../src/server/academy/local-academy.ts'
import {
  atLeast,
  type BenchRow,
  compareInTurn,
  comparePairs,
  perSecond,
  type Served,
  serveAcademy,
  startReceiver,
} from './measure.ts'
import { post } from './seed.ts'
import { fillAcademy, loadOf, type Seed, trials } from './server.ts'

const rounds = 5
const seconds = 3
const connections = 16
const learners = 200
const events = 5000
/** Number of connections, as many as the server opens to one endpoint. */
const senders = 8

/** Measures what events cost the writes that cause them, and how fast they are sent. */
export async function benchWebhooks(bin: string, directory: string): Promise<BenchRow[]> {
  return [await writesWithEvents(bin, directory), await eventsOut(bin, directory)]
}

/**
 * Measures progress writes a second with an endpoint that gets an event of each, against those of an academy without
 * endpoints.
 */
async function writesWithEvents(bin: string, directory: string): Promise<BenchRow> {
  const receiver = await startReceiver()
  const places = [join(directory, 'events.db'), join(directory, 'silent.db')]
  const seeds: Seed[] = []
  for (const path of places) seeds.push(await fillAcademy(path, learners))
  await withEndpoint(places[0] ?? '', receiver.url, ['progress.*'])
  const servers: Served[] = []
  for (const path of places) {
    servers.push(await serveAcademy(bin, path, directory))
  }
  const rateOf = async (index: number) => {
    const seed = seeds[index]
    const server = servers[index]
    if (!seed || !server) throw new Error('There are two servers')
    return perSecond({ ...loadOf(trials.progress, server.url, seed), connections, seconds })
  }
  const { mine, theirs, ratio } = await compareInTurn(
    rounds,
    () => rateOf(0),
    () => rateOf(1),
  )
  for (const server of servers) await server.stop()
  await receiver.close()
  return {
    figure: 'webhooks: record progress with an endpoint subscribed, over without',
    value: ratio,
    ...atLeast(0.8),
    from: `${mine.toFixed(0)}/s over ${theirs.toFixed(0)}/s, ${connections} connections, ${receiver.count()} events received meanwhile`,
  }
}

/** Measures queued events that a server sends a second, against a bare loop with as many connections. */
async function eventsOut(bin: string, directory: string): Promise<BenchRow> {
  const pairs: [number, number][] = []
  for (let round = 0; round < 3; round += 1) {
    const receiver = await startReceiver()
    const path = join(directory, `queued-${round}.db`)
    await withEndpoint(path, receiver.url, ['user.created'], async (academy) => {
      for (let index = 0; index < events; index += 1000) {
        const items = Array.from({ length: 1000 }, (_, each) => ({ email: `l${index + each}@example.org` }))
        await post(academy, '/v1/users/batch', { items })
      }
    })
    const sent = receiver.rate(events)
    const server = await serveAcademy(bin, path, directory)
    const ours = await sent
    await server.stop()
    const bare = receiver.rate(events)
    await sendBare(receiver.url, receiver.last())
    pairs.push([ours, await bare])
    await receiver.close()
  }
  const { mine, theirs, ratio } = comparePairs(pairs)
  return {
    figure: 'webhooks: events to a local receiver',
    value: ratio,
    ...atLeast(0.2),
    from: `${mine.toFixed(0)}/s over ${theirs.toFixed(0)}/s of a bare loop, ${senders} connections, ${events} queued events`,
  }
}

async function withEndpoint(
  path: string,
  url: string,
  subscribed: readonly string[],
  then: (academy: Awaited<ReturnType<typeof openAcademy>>) => Promise<void> = async () => {},
): Promise<void> {
  const academy = await openAcademy({ path })
  await post(academy, '/v1/webhooks/endpoints', { url, events: subscribed })
  await then(academy)
  await academy.close()
}

async function sendBare(url: string, body: string): Promise<void> {
  const dispatcher = new Agent({ connections: senders, pipelining: 1 })
  let left = events
  const send = async () => {
    while (left > 0) {
      left -= 1
      const { body: answer } = await request(url, { method: 'POST', body, dispatcher })
      await answer.dump()
    }
  }
  await Promise.all(Array.from({ length: senders }, send))
  await dispatcher.close()
}
