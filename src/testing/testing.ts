import { resolve } from 'node:path'
import {
  type Client,
  type CourseInput,
  createClient,
  type EnrollmentInput,
  type GradeInput,
  type GroupInput,
  type LessonInput,
  type ProgressItem,
  type UserInput,
} from '../client/client.ts'
import type { EventType } from '../contract/actions.ts'
import type { CapturedEvent } from '../server/changes/event-queue.ts'
import type { TemporaryAcademy } from './temporary-academy.ts'

export type { EventType } from '../contract/actions.ts'

/** Records to seed an academy with, in this order, as the API takes them; `ext:GEO-1` and `email:ada@example.org` refer to others. */
export interface SeedRecords {
  readonly courses?: readonly CourseInput[]
  readonly lessons?: readonly LessonInput[]
  readonly users?: readonly UserInput[]
  readonly enrollments?: readonly EnrollmentInput[]
  readonly groups?: readonly GroupInput[]
  readonly progress?: readonly ProgressItem[]
  readonly grades?: readonly GradeInput[]
}

/** A file or folder as `server exec --seed` takes it, relative to the working directory; `examples`; or records. */
export type Seed = string | SeedRecords

/** Options of `startAcademy`. */
export interface AcademyOptions {
  /** Content: files first, in the order in which they refer to each other, then records. */
  readonly seed?: Seed | readonly Seed[]
  /** Database file to begin with: a snapshot or a backup, which stays as it is. */
  readonly snapshot?: string
  /** Time at which the clock of the academy stands still (default the actual time). */
  readonly clock?: string | Date
  /** Number from which ids are made, the same in each run (default random ids). */
  readonly seedId?: number
  /** Port of the loopback (default any free port). */
  readonly port?: number
  /** True for an academy without a port, which only `client` reaches (default false). */
  readonly inProcess?: boolean
}

/** A webhook that an endpoint would get: an event with its id and the body of the request, to the byte. */
export type Webhook = CapturedEvent

/** A temporary academy. `await using` closes it at the end of its block. */
export interface Academy extends AsyncDisposable {
  /** Client of an admin. */
  readonly client: Client
  /**
   * Returns the webhooks that changes have caused since the seed or the last reset, in their order; no endpoint is needed.
   * Those of a request are there when it is answered. At most the last 10,000.
   */
  webhooks(type?: EventType): readonly Webhook[]
  /** Waits for the next webhook of a type, each of which is returned once. Throws AcademyError after `timeoutMs` (default 5 s). */
  webhook(type: EventType, options?: { readonly timeoutMs?: number }): Promise<Webhook>
  /** Returns to the state after the seed, with the same address and key; forgets webhooks. Wait for open requests first. */
  reset(): Promise<void>
  /** Stops it and removes its files. */
  close(): Promise<void>
}

/** A temporary academy with a port of the loopback. */
export interface ServedAcademy extends Academy {
  readonly url: string
  /** API key of an admin. */
  readonly apiKey: string
  /** Both as the variables LEARNCTL_URL and LEARNCTL_API_KEY, for programs that the test starts. */
  readonly env: { readonly LEARNCTL_URL: string; readonly LEARNCTL_API_KEY: string }
}

/** An academy that cannot be started, seeded or reset, or a webhook that did not come. */
export class AcademyError extends Error {
  override readonly name = 'AcademyError'
}

/** Starts a temporary academy without a port. Throws AcademyError. */
export function startAcademy(options: AcademyOptions & { readonly inProcess: true }): Promise<Academy>
/** Starts a temporary academy on a port of the loopback; several can run at once. Throws AcademyError. */
export function startAcademy(options?: AcademyOptions): Promise<ServedAcademy>
/** Starts a temporary academy and seeds it. */
export async function startAcademy(options: AcademyOptions = {}): Promise<Academy> {
  const { seed = [], snapshot, clock, seedId, inProcess = false } = options
  checkNode()
  const seeds = [seed].flat() as readonly Seed[]
  checkOptions(options)
  for (const each of seeds) if (typeof each !== 'string') checkNames('seed', each, resources)
  const { createTemporaryAcademy } = await import('./temporary-academy.ts')
  const log = new WebhookLog()
  const academy = await createTemporaryAcademy({
    seeds: seeds.filter((each) => typeof each === 'string'),
    snapshot: snapshot === undefined ? undefined : resolve(snapshot),
    fixedTime: clock === undefined ? undefined : new Date(clock).toISOString(),
    seedId,
    port: inProcess ? null : (options.port ?? 0),
    onEvents: (events) => log.add(events),
  }).catch(throwReadable)
  const client = clientOf(academy)
  const close = async () => {
    await client.close()
    await academy.close()
  }
  try {
    for (const records of seeds) if (typeof records !== 'string') await plant(client, records)
    await academy.save()
  } catch (error) {
    await close()
    throw error
  }
  log.clear()
  const { url, apiKey } = academy
  const served = url !== undefined &&
    apiKey !== undefined && { url, apiKey, env: { LEARNCTL_URL: url, LEARNCTL_API_KEY: apiKey } }
  return {
    client,
    ...served,
    webhooks: (type) => log.list(type),
    webhook: (type, { timeoutMs = 5000 } = {}) => log.next(type, timeoutMs),
    async reset() {
      await academy.reset().catch(throwReadable)
      log.clear()
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

function throwReadable(error: unknown): never {
  if (!(error instanceof Error)) throw error
  throw new AcademyError(error.message, { cause: error.cause ?? error })
}

/** Throws AcademyError on a Node that cannot run an academy. */
function checkNode(): void {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major > 25 || (major === 24 && minor >= 15)) return
  throw new AcademyError(`learnctl/testing requires Node 24.15 or newer, except 25, not ${process.version}`)
}

const optionNames: readonly string[] = ['seed', 'snapshot', 'clock', 'seedId', 'port', 'inProcess']
const resources = ['courses', 'lessons', 'users', 'enrollments', 'groups', 'progress', 'grades']

/** Throws AcademyError for the first unknown name, which JavaScript would ignore. */
function checkNames(what: string, value: object, known: readonly string[]): void {
  const unknown = Object.keys(value).find((name) => !known.includes(name))
  if (unknown === undefined) return
  throw new AcademyError(`Unknown name in ${what}: ${unknown}; known are ${known.join(', ')}`)
}

function checkOptions(options: AcademyOptions): void {
  checkNames('options', options, optionNames)
  const { snapshot, clock, seedId, port, inProcess } = options
  const refuse = (message: string): never => {
    throw new AcademyError(message)
  }
  if (clock !== undefined && Number.isNaN(new Date(clock).getTime())) {
    refuse(`clock must be a time such as 2026-01-01T12:00:00Z, not ${JSON.stringify(clock)}`)
  }
  if (seedId !== undefined && !(Number.isInteger(seedId) && seedId >= 0 && seedId < 2 ** 32)) {
    refuse(`seedId must be a whole number from 0 to 4294967295, not ${seedId}`)
  }
  if (snapshot !== undefined && seedId !== undefined) {
    refuse('snapshot and seedId cannot be used together: ids of the snapshot would be made again')
  }
  if (port !== undefined && inProcess) refuse('port and inProcess cannot be used together')
  if (port !== undefined && !(Number.isInteger(port) && port >= 0 && port <= 65_535)) {
    refuse(`port must be a whole number from 0 to 65535, not ${port}`)
  }
}

function clientOf({ url, apiKey, transport }: TemporaryAcademy): Client {
  const baseUrl = url ?? 'http://localhost'
  // No proxy leads to this process, and it needs no second attempt.
  return createClient({
    ...{ baseUrl, env: {}, attempts: 1 },
    ...(apiKey !== undefined && { apiKey }),
    ...(transport && { transport }),
  })
}

/** Maximum items of a batch. */
const batchItems = 1000

/** Creates records. Throws AcademyError that names the first one that is refused. */
async function plant(client: Client, records: SeedRecords): Promise<void> {
  const { courses = [], lessons = [], users = [], enrollments = [], groups = [] } = records
  const { progress = [], grades = [] } = records
  await each('courses', courses, (course) => client.courses.create(course))
  await each('lessons', lessons, (lesson) => client.lessons.create(lesson))
  await batches('users', users, (items) => client.users.batch({ items }))
  await batches('enrollments', enrollments, (items) => client.enrollments.batch({ items }))
  await each('groups', groups, (group) => client.groups.create(group))
  await batches('progress', progress, (items) => client.progress.batch({ items }))
  await batches('grades', grades, (items) => client.grades.batch({ items }))
}

async function each<Item>(
  name: string,
  items: readonly Item[],
  create: (item: Item) => Promise<unknown>,
): Promise<void> {
  for (const [index, item] of items.entries()) {
    await create(item).catch((error: unknown) => {
      const why = error instanceof Error ? error.message : String(error)
      throw new AcademyError(`Cannot seed the academy: ${name}[${index}]: ${why}`, { cause: error })
    })
  }
}

/** Part of the response to a batch. */
interface BatchOutcome {
  readonly results: readonly {
    readonly status: number
    readonly code?: string | null | undefined
    readonly detail?: string | null | undefined
  }[]
}

async function batches<Item>(
  name: string,
  items: readonly Item[],
  send: (items: Item[]) => Promise<BatchOutcome>,
): Promise<void> {
  for (let from = 0; from < items.length; from += batchItems) {
    const part = items.slice(from, from + batchItems)
    const { results } = await send(part).catch((error: unknown) => {
      const why = error instanceof Error ? error.message : String(error)
      throw new AcademyError(`Cannot seed the academy: ${name}: ${why}`, { cause: error })
    })
    const index = results.findIndex(({ status }) => status >= 400)
    const refused = results[index]
    if (refused) {
      const why = refused.detail ?? refused.code ?? refused.status
      throw new AcademyError(`Cannot seed the academy: ${name}[${from + index}]: ${why}`)
    }
  }
}

const maxWebhooks = 10_000

interface Waiter {
  readonly type: EventType
  readonly resolve: (webhook: Webhook) => void
}

class WebhookLog {
  #webhooks: Webhook[] = []
  /** Webhooks that `next` has not returned yet. */
  #unread: Webhook[] = []
  #waiters: readonly Waiter[] = []

  add(webhooks: readonly Webhook[]): void {
    this.#webhooks.push(...webhooks)
    for (const webhook of webhooks) {
      const waiter = this.#waiters.find(({ type }) => type === webhook.type)
      if (!waiter) {
        this.#unread.push(webhook)
        continue
      }
      this.#waiters = this.#waiters.filter((other) => other !== waiter)
      waiter.resolve(webhook)
    }
    for (const list of [this.#webhooks, this.#unread]) list.splice(0, Math.max(0, list.length - maxWebhooks))
  }

  list(type?: EventType): readonly Webhook[] {
    return this.#webhooks.filter((webhook) => type === undefined || webhook.type === type)
  }

  next(type: EventType, timeoutMs: number): Promise<Webhook> {
    const index = this.#unread.findIndex((webhook) => webhook.type === type)
    const [found] = index < 0 ? [] : this.#unread.splice(index, 1)
    if (found) return Promise.resolve(found)
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiters = this.#waiters.filter((other) => other !== waiter)
        const types = [...new Set(this.#webhooks.map((webhook) => webhook.type))].join(', ')
        const others = types === '' ? 'there were none' : `there were ${types}`
        reject(new AcademyError(`No webhook ${type} within ${timeoutMs / 1000} s: ${others}`))
      }, timeoutMs)
      const waiter: Waiter = {
        type,
        resolve(webhook) {
          clearTimeout(timer)
          resolve(webhook)
        },
      }
      this.#waiters = [...this.#waiters, waiter]
    })
  }

  clear(): void {
    this.#webhooks = []
    this.#unread = []
  }
}
