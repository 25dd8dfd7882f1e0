import { randomBytes } from 'node:crypto'
import sql from 'sql-template-tag'
import type { Row, Store } from '../../database/database.ts'
import type { IdMaker } from '../../database/id.ts'
import { type AttemptParts, attemptsWith, type Later } from './attempt.ts'
import { type Claimed, claim } from './claim.ts'
import { crowdBy } from './crowd.ts'
import { type EndpointRow, endpointColumns, isKept } from './endpoint-row.ts'
import type { Sender } from './send.ts'
import { type Ended, settle } from './settle.ts'

/** What messages are sent with. */
export interface DispatcherParts
  extends Pick<AttemptParts, 'sealing' | 'now'>,
    Partial<Pick<AttemptParts, 'signedAt' | 'later'>> {
  readonly database: Store
  readonly sender: Sender
  readonly newId: IdMaker
  /** Milliseconds that never go back. */
  readonly elapsedMs?: () => number
  readonly random?: () => number
}

/** Sends what is queued, until it is stopped. */
export interface Dispatcher {
  /** Looks whether something is to be sent: after a commit, it may be. */
  wake(): void
  /** Is told of each request to the academy: where many come, they go first. */
  asked(): void
  /** Sends nothing new, waits a little for what is under way, and leaves the rest to the next server. */
  stop(): Promise<void>
}

/** An endpoint with when its next message is due; null where none waits. */
type Waiting = EndpointRow & { readonly first_due: string | null }

/** By which a message is somebody's, and until when. */
interface Claim {
  readonly lease: string
  readonly until: string
}

/** So many messages of an endpoint are under way at a time: a receiver that hangs holds up no other endpoint. */
const mostAtOnce = 8
/** Longer than an attempt and the keeping of what came of it take: after a crash, others send the message then. */
const leaseMs = 60_000
/** What other programs queue on the same database is found so soon. */
const lookedEveryMs = 1000
const idleMs = 5000
const graceMs = 5000
/** While many ask the academy for something, it is looked for events once in so long. */
const crowdedGapMs = 50

const usualLater: Later = (work, ms) => {
  const timer = setTimeout(work, ms).unref()
  return { clear: () => clearTimeout(timer) }
}

/** Begins to send what is queued for the endpoints of an academy; several servers on one database may do so. */
export function startDispatcher(parts: DispatcherParts): Dispatcher {
  const { database, sealing, sender, newId, now, later = usualLater } = parts
  const { signedAt = now, elapsedMs = () => performance.now(), random = Math.random } = parts
  const server = randomBytes(12).toString('base64url')
  let claims = 0
  const stopping = new AbortController()
  const { send } = sender
  const outcomeOfAttempt = attemptsWith({ send, sealing, now, signedAt, later, stopping: stopping.signal })
  /** How many messages of each endpoint are under way, and may be: a receiver that asks for a pause gets one at first. */
  const lanes = new Map<string, { active: number; width: number }>()
  let finished: Ended[] = []
  let underWay = 0
  let isWorking = false
  let isAgain = false
  let isStopped = false
  let lookedAt = Number.NEGATIVE_INFINITY
  let isIdle = false
  let planned: { clear(): void } | undefined
  let plannedFor = Number.POSITIVE_INFINITY
  const crowd = crowdBy(elapsedMs)
  let whenQuiet: (() => void) | undefined

  function plan(ms: number): void {
    planned?.clear()
    plannedFor = elapsedMs() + ms
    planned = isStopped ? undefined : later(turn, ms)
  }

  /** A turn now, or a little later where requests go first. */
  function soon(): void {
    const time = elapsedMs()
    const waitMs = crowdedGapMs - (time - lookedAt)
    if (!crowd.isThere() || isStopped || waitMs <= 0) turn()
    else if (plannedFor > time + waitMs) plan(waitMs)
  }

  /** One turn at a time; whoever asks meanwhile gets another one. */
  function turn(): void {
    isAgain = true
    if (!isWorking) void turns()
  }

  async function turns(): Promise<void> {
    isWorking = true
    while (isAgain) {
      isAgain = false
      try {
        plan(await look())
      } catch {
        // The database is busy, or away: what has ended is kept for the next time.
        plan(lookedEveryMs)
        isAgain = false
        // What cannot be kept now is sent again once its claim has run out.
        if (isStopped) finished = []
      }
    }
    isWorking = false
    if (underWay === 0 && finished.length === 0) whenQuiet?.()
  }

  /** Keeps what has ended, and sends what is due; the time after which to look again. */
  async function look(): Promise<number> {
    lookedAt = elapsedMs()
    const date = now()
    const time = date.toISOString()
    const waiting = isStopped ? [] : await waitingEndpoints(time)
    isIdle = waiting.length === 0
    for (const [id, { active }] of lanes) {
      if (active === 0 && waiting.every((endpoint) => endpoint.id !== id)) lanes.delete(id)
    }
    const ended = finished
    finished = []
    // What has ended may let others go that wait for it.
    const released = new Set(ended.map(({ endpointId }) => endpointId))
    const pausing = new Set(
      ended.flatMap(({ endpointId, outcome }) => (outcome.pauseMs > 0 ? endpointId : [])),
    )
    const free = waiting.flatMap((endpoint) => {
      const { active, width } = laneOf(endpoint.id)
      const { id, first_due: due, paused_until: paused } = endpoint
      const isPaused = (paused !== null && paused > time) || pausing.has(id)
      const isDue = !isPaused && (released.has(id) || (due !== null && due <= time))
      return isDue && active < width ? [{ endpoint, most: width - active }] : []
    })
    if (ended.length > 0 || free.length > 0) {
      const until = new Date(date.getTime() + leaseMs).toISOString()
      claims += 1
      const lease = `${server}.${claims}`
      let claimed: { endpoint: Waiting; messages: Claimed[] }[]
      try {
        claimed = await database.write(async (transaction) => {
          for (const each of ended) await settle({ database: transaction, now: date, newId }, each)
          const all: typeof claimed = []
          for (const { endpoint, most } of free) {
            const claiming = { endpointId: endpoint.id, now: date, until, lease, most }
            all.push({ endpoint, messages: await claim(transaction, claiming) })
          }
          return all
        })
      } catch (error) {
        finished = [...ended, ...finished]
        throw error
      }
      for (const { endpoint, messages } of claimed) {
        for (const message of messages) void attempt(endpoint, message, { lease, until })
      }
    }
    const next = waiting
      .filter(({ id, first_due: due }) => due !== null && laneOf(id).active < laneOf(id).width)
      .map((endpoint) => Date.parse(opensAt(endpoint)) - date.getTime())
      .filter((ms) => ms > 0)
    if (isIdle) return idleMs
    return Math.min(crowd.isThere() ? crowdedGapMs : lookedEveryMs, ...next)
  }

  function waitingEndpoints(time: string): Promise<Waiting[]> {
    return database.all<Waiting & Row>(sql`
      select ${endpointColumns}, (
        select m.due_at from webhook_messages m where m.endpoint_id = e.id and m.due_at is not null
        order by m.due_at limit 1) as first_due
      from webhook_endpoints e where e.status = 'active' and ${isKept(time)} order by e.created_at limit ${mostLanes}`)
  }

  function laneOf(id: string) {
    const lane = lanes.get(id) ?? { active: 0, width: mostAtOnce }
    lanes.set(id, lane)
    return lane
  }

  async function attempt(endpoint: EndpointRow, message: Claimed, { lease, until }: Claim): Promise<void> {
    const lane = laneOf(endpoint.id)
    lane.active += 1
    underWay += 1
    const startedAt = now().toISOString()
    const began = elapsedMs()
    const outcome = await outcomeOfAttempt(endpoint, message)
    const durationMs = Math.max(0, Math.round(elapsedMs() - began))
    lane.active -= 1
    underWay -= 1
    lane.width = outcome.pauseMs > 0 || outcome.status === null ? 1 : Math.min(mostAtOnce, lane.width + 1)
    const chance = random()
    // Who had it for longer than agreed has lost it: somebody else may be sending it.
    if (now().toISOString() < until) {
      finished.push({
        ...{ message, endpointId: endpoint.id, lease, startedAt, durationMs, outcome, chance },
      })
    }
    soon()
  }

  plan(0)
  return {
    wake() {
      if (isStopped) return
      const sinceMs = elapsedMs() - lookedAt
      // Where there is no endpoint, one that comes is found a little later: nobody looks after each write.
      if (!isIdle) soon()
      else if (sinceMs >= lookedEveryMs) turn()
      else plan(lookedEveryMs - sinceMs)
    },
    asked: crowd.asked,
    async stop() {
      isStopped = true
      planned?.clear()
      const quiet = new Promise<void>((resolve) => {
        whenQuiet = resolve
      })
      const timer = later(() => stopping.abort(), graceMs)
      turn()
      await quiet
      timer.clear()
      await sender.close()
    },
  }
}

/** More endpoints than there may be. */
const mostLanes = 100

/** When something may be sent next. */
function opensAt({ first_due: due, paused_until: paused }: Waiting): string {
  return [due ?? '', paused ?? ''].toSorted().at(-1) ?? ''
}
