import { join } from 'node:path'
import { sign } from '../../src/lms/verify.ts'
import { openAcademy } from '../../src/server/academy/local-academy.ts'
import {
  atLeast,
  type BenchRow,
  compareInTurn,
  perSecond,
  type Sent,
  serveAcademy,
  startServer,
} from './measure.ts'
import { post } from './seed.ts'

const rounds = 5
const seconds = 3
const connections = 16
const learners = 100
const items = 20
/** Number of deliveries: more than a round sends, because duplicates are cheaper. */
const perRound = 15_000
/** Webhook secret of the benchmark; it protects nothing. */
const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

/**
 * Measures verified deliveries a second, each a grade to store, against a bare server that stores each body;
 * alternately.
 */
export async function benchInbox(bin: string, directory: string): Promise<BenchRow[]> {
  const database = join(directory, 'inbox.db')
  await fill(database)
  const academy = await serveAcademy(bin, database, directory)
  const bare = await startServer([
    join(import.meta.dirname, 'bare-inbox.ts'),
    join(directory, 'bare-inbox.db'),
  ])
  const load = { method: 'POST' as const, headers: {}, connections, seconds }
  let requests: Sent[] = []
  const { mine, theirs, ratio } = await compareInTurn(
    rounds,
    async (round) => {
      requests = await deliveries(round)
      return perSecond({ ...load, url: academy.url, requests })
    },
    () => perSecond({ ...load, url: bare.url, requests }),
  )
  await Promise.all([academy.stop(), bare.stop()])
  const from = `${mine.toFixed(0)}/s over ${theirs.toFixed(0)}/s, ${connections} connections, ${rounds} × ${seconds} s`
  const figure = 'inbox: verified deliveries over a bare insert'
  return [{ figure, value: ratio, ...atLeast(0.5), from }]
}

async function fill(path: string): Promise<void> {
  const academy = await openAcademy({ path })
  await post(academy, '/v1/courses', { title: 'Logic', externalId: 'LOG', status: 'published' })
  const people = Array.from({ length: learners }, (_, number) => number)
  await post(academy, '/v1/users/batch', {
    items: people.map((number) => ({ email: `l${number}@school.example`, externalId: `l${number}` })),
  })
  await post(academy, '/v1/enrollments/batch', {
    items: people.map((number) => ({ courseId: 'ext:LOG', userId: `ext:l${number}` })),
  })
  await academy.transport({
    method: 'PUT',
    url: 'http://localhost/v1/integrations/standard',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ webhookSecrets: [secret] }),
  })
  await academy.close()
}

function deliveries(round: number): Promise<Sent[]> {
  const now = Date.now()
  return Promise.all(
    Array.from({ length: perRound }, async (_, index) => {
      const at = new Date(now - perRound + index).toISOString()
      const data = {
        courseId: 'ext:LOG',
        userId: `ext:l${index % learners}`,
        itemId: `item-${Math.floor(index / learners) % items}`,
        timestamp: at,
        scoreGiven: (index + round) % 101,
        scoreMaximum: 100,
      }
      const payload = { type: 'grade.updated', timestamp: at, data }
      const { headers, body } = await sign('standard', payload, { secret, now, id: `msg_${round}_${index}` })
      // All headers of a signature are text.
      return { path: '/webhooks/standard/grades', body, headers: headers as Record<string, string> }
    }),
  )
}
