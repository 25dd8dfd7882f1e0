import { createServer } from 'node:http'
import { join } from 'node:path'
import { openAcademy } from '../../src/server/academy/local-academy.ts'
import { listen } from '../helpers/listen.ts'
import { median, serveAcademy } from './measure.ts'
import { atLeast, type BenchRow } from './row.ts'
import { post } from './seed.ts'

const learners = 5000
const steps = [10, 50, 100]
/** Each step, and the completion. */
const statements = learners * (steps.length + 1)
const rounds = 3

type Academy = Awaited<ReturnType<typeof openAcademy>>

/** Measures statements that are made of the learning history, and those that reach a local record store. */
export async function benchXapi(bin: string, directory: string): Promise<BenchRow[]> {
  const made: number[] = []
  const delivered: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const store = await startStore()
    const path = join(directory, `xapi-${round}.db`)
    const academy = await openAcademy({ path })
    await post(academy, '/v1/webhooks/endpoints', { kind: 'xapi', url: store.url })
    await fill(academy)
    made.push(await makeAll(academy))
    await academy.close()
    const arrived = store.rate(statements)
    const server = await serveAcademy(bin, path, directory)
    delivered.push(await arrived)
    await server.stop()
    await store.close()
  }
  return [
    rowOf('connect: xAPI statements made', made, 10_000, 'read in pages of 100'),
    rowOf('connect: xAPI statements to a local record store', delivered, 3000, 'queued, in batches of 500'),
  ]
}

function rowOf(figure: string, rates: readonly number[], goal: number, how: string): BenchRow {
  const all = rates.map((rate) => Math.round(rate)).join(', ')
  return {
    ...{ figure, value: median(rates), ...atLeast(goal, 'rows/s') },
    from: `${statements} statements of ${learners} learners, ${how}: ${all}`,
  }
}

async function fill(academy: Academy): Promise<void> {
  const course = { title: 'Logic', externalId: 'course', status: 'published' }
  await post(academy, '/v1/courses', course)
  for (let from = 0; from < learners; from += 1000) {
    const numbers = Array.from({ length: 1000 }, (_, index) => from + index)
    const users = numbers.map((n) => ({ email: `l${n}@example.org`, externalId: `S-${n}` }))
    await post(academy, '/v1/users/batch', { items: users })
    for (const completionPercentage of steps) {
      const items = numbers.map((n) => ({
        ...{ learnerId: `ext:S-${n}`, courseId: 'ext:course', completionPercentage },
      }))
      await post(academy, '/v1/progress/batch', { items })
    }
  }
}

/** Reads all statements; returns how many a second. */
async function makeAll(academy: Academy): Promise<number> {
  const began = performance.now()
  let count = 0
  let cursor: string | null = ''
  while (cursor !== null) {
    const from: string = cursor === '' ? '' : `&cursor=${cursor}`
    const url = `http://localhost/v1/analytics/statements?limit=100${from}`
    const reply = await academy.transport({ method: 'GET', url, headers: {} })
    const page = JSON.parse(String(reply.body)) as {
      readonly data: readonly unknown[]
      readonly nextCursor: string | null
    }
    count += page.data.length
    cursor = page.nextCursor
  }
  if (count !== statements) throw new Error(`${count} of ${statements} statements were made`)
  return count / ((performance.now() - began) / 1000)
}

/** Starts a record store that accepts everything and measures the rate. */
async function startStore() {
  let got = 0
  let began = 0
  let onBatch = () => {}
  const server = createServer(async (incoming, response) => {
    if (began === 0) began = performance.now()
    const pieces: Buffer[] = []
    for await (const piece of incoming) pieces.push(piece)
    const ids = (JSON.parse(Buffer.concat(pieces).toString()) as { id: string }[]).map(({ id }) => id)
    got += ids.length
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(ids))
    onBatch()
  })
  const { url, close } = await listen(server)
  return {
    url: `${url}/xapi`,
    /** Returns the rate from the first to the last of `count` statements. */
    rate: (count: number) =>
      new Promise<number>((resolve) => {
        onBatch = () => {
          if (got >= count) resolve(got / ((performance.now() - began) / 1000))
        }
      }),
    close,
  }
}
