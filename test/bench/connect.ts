import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openAcademy } from '../../src/server/academy/local-academy.ts'
import { type CanvasSchool, canvasToken, fakeCanvas } from '../helpers/fake-canvas.ts'
import { serveFake } from '../helpers/fake-system.ts'
import {
  atLeast,
  atMost,
  type BenchRow,
  compareInTurn,
  measureMs,
  median,
  perSecond,
  serveAcademy,
  startReceiver,
} from './measure.ts'
import { makeKey, post } from './seed.ts'

const rounds = 3
const seconds = 3
const connections = 16

/** Measures how other systems read an academy and are read. */
export async function benchConnect(bin: string, directory: string): Promise<BenchRow[]> {
  return [
    await benchOneRoster(bin, directory),
    await benchPull(bin, directory),
    ...(await benchXapi(bin, directory)),
  ]
}

const readers = 2_000

/** Compares a list of 100 users over OneRoster with that of the API, alternately and with the same load. */
async function benchOneRoster(bin: string, directory: string): Promise<BenchRow> {
  const path = join(directory, 'oneroster.db')
  const academy = await openAcademy({ path })
  for (let first = 0; first < readers; first += 500) {
    const items = Array.from({ length: 500 }, (_, index) => ({
      email: `learner${first + index}@example.org`,
      profile: { firstName: `Ada ${first + index}`, lastName: 'Lovelace' },
    }))
    await post(academy, '/v1/users/batch', { items })
  }
  const key = await makeKey(academy)
  const app = await post(academy, '/v1/apps', { name: 'Roster', machineScopes: ['roster.readonly'] })
  await academy.close()
  const server = await serveAcademy(bin, path, directory)
  try {
    const token = await tokenFor(server.url, String(app['clientId']), String(app['clientSecret']))
    const rateOf = (credential: string, target: string) =>
      perSecond({
        ...{ method: 'GET', url: server.url, requests: [{ path: target }], connections, seconds },
        headers: { authorization: `Bearer ${credential}` },
      })
    const { mine, theirs, ratio } = await compareInTurn(
      rounds,
      () => rateOf(token, '/ims/oneroster/rostering/v1p2/users?limit=100'),
      () => rateOf(key, '/v1/users?limit=100'),
    )
    return {
      figure: 'connect: OneRoster list of 100 users over /v1/users',
      value: ratio,
      ...atLeast(0.5),
      from: `${mine.toFixed(0)}/s over ${theirs.toFixed(0)}/s, ${readers} users, ${connections} connections, ${rounds} × ${seconds} s`,
    }
  } finally {
    await server.stop()
  }
}

async function tokenFor(url: string, clientId: string, clientSecret: string): Promise<string> {
  const response = await fetch(`${url}/oauth/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  })
  const { access_token: token } = (await response.json()) as { access_token?: string }
  if (token === undefined) throw new Error(`No token: HTTP ${response.status}`)
  return token
}

const people = 5000
const courses = 100
const enrollments = 30_000
const pageMs = 200
/** Requests that the reader of Canvas sends at once. */
const atOnce = 8

/** Measures how long a school is read from a Canvas that takes 200 ms for a page, against as many requests at once without anything else. */
async function benchPull(bin: string, directory: string): Promise<BenchRow> {
  let pages = 0
  const canvas = await serveFake(
    fakeCanvas(school(), {
      before: async () => {
        pages += 1
        await new Promise((resolve) => setTimeout(resolve, pageMs))
        return undefined
      },
    }),
  )
  const env = { XDG_STATE_HOME: directory, XDG_CONFIG_HOME: directory }
  const path = join(directory, 'pull.db')
  const database = ['--database', path]
  await (await openAcademy({ path })).close()
  try {
    const settings = join(directory, 'canvas.json')
    writeFileSync(settings, JSON.stringify({ baseUrl: canvas.url, accessToken: canvasToken }))
    const set = ['integrations', 'set', 'canvas', '--body', `@${settings}`]
    await measureMs(process.execPath, [bin, ...set, ...database], { env })
    const values: number[] = []
    let spent: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      pages = 0
      const ms = await measureMs(
        process.execPath,
        [bin, 'roster', 'validate', 'integration:canvas', ...database],
        { env },
      )
      values.push(ms / ((pages * pageMs) / atOnce))
      spent = [...spent, ms]
    }
    return {
      figure: 'connect: read a school from a Canvas of 200 ms a page, over its pages alone',
      value: median(values),
      ...atMost(1.3),
      from: `${(median(spent) / 1000).toFixed(1)} s, ${people} people, ${enrollments} enrolments, ${pages} pages, ${atOnce} at once, ${rounds} rounds`,
    }
  } finally {
    canvas.close()
  }
}

function school(): CanvasSchool {
  const inCourse = enrollments / courses
  return {
    terms: [{ id: 7, sis: 'S26', name: 'Spring 2026' }],
    users: Array.from({ length: people }, (_, index) => ({
      ...{ id: index + 1, sis: `u${index}`, first: `Ada${index}`, last: 'Lovelace' },
    })),
    courses: Array.from({ length: courses }, (_, index) => ({
      ...{ id: index + 1, sis: `c${index}`, name: `Course ${index}`, term: 7 },
    })),
    enrollments: Array.from({ length: enrollments }, (_, index) => ({
      course: Math.floor(index / inCourse) + 1,
      user: ((index * 7) % people) + 1,
    })),
  }
}

const learners = 5000
const steps = [10, 50, 100]
/** Each step, and the completion. */
const statements = learners * (steps.length + 1)

type Academy = Awaited<ReturnType<typeof openAcademy>>

/** Measures statements that are made of the learning history, and those that reach a local record store. */
async function benchXapi(bin: string, directory: string): Promise<BenchRow[]> {
  const made: number[] = []
  const delivered: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const store = await startStore()
    const path = join(directory, `xapi-${round}.db`)
    const academy = await openAcademy({ path })
    await post(academy, '/v1/webhooks/endpoints', { kind: 'xapi', url: `${store.url}xapi` })
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

/** Starts a record store that accepts everything, and answers with the ids of statements. */
function startStore() {
  return startReceiver((body) => {
    const ids = (JSON.parse(body) as { id: string }[]).map(({ id }) => id)
    return { count: ids.length, reply: JSON.stringify(ids) }
  })
}
