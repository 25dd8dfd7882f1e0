import pg, { type PoolClient } from 'pg'
import type { Cell } from '../database.ts'
import { sqlStateOf } from '../sql-state.ts'
import type { Answer, Connections, Lease } from './connection.ts'
import { NoneFree } from './serving-fault.ts'
import { ConnectionLost } from './sql-state.ts'

/** How the connections of a pool are made, and how long they are waited for. */
export interface PoolOptions {
  /** What `pg` needs to reach the server; a password that is asked for when it is needed. */
  readonly client: pg.ClientConfig
  readonly size: number
  readonly waitMs: number
  /** How long a statement may take, and how long it may wait for the locks of others; 0 for as long as it takes. */
  readonly statementMs: number
  readonly lockMs: number
  /** How much longer than that an answer is waited for: only a connection that is dead takes as long. */
  readonly graceMs?: number
}

/** As many as a server has connections: what waits is held in memory. */
const maxWaiting = 500
const idleMs = 60_000
/** A process that hangs in the middle of a transaction must not hold locks for ever. */
const idleInTransactionMs = 180_000
const keepAliveMs = 30_000
const closeMs = 1000

/** Connections to a PostgreSQL, made when they are needed and kept for a while. */
export function openPool({
  client,
  size,
  waitMs,
  statementMs,
  lockMs,
  graceMs = 0,
}: PoolOptions): Connections {
  const pool = new pg.Pool({
    ...client,
    max: size,
    connectionTimeoutMillis: waitMs,
    idleTimeoutMillis: idleMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
    statement_timeout: statementMs,
    lock_timeout: lockMs,
    idle_in_transaction_session_timeout: idleInTransactionMs,
    ...(statementMs > 0 && { query_timeout: statementMs + graceMs }),
    pipeline: true,
    types: { getTypeParser: parserOf },
    Client: CarefulClient,
  })
  // One that breaks while nobody uses it is replaced by the next that is needed.
  pool.on('error', () => undefined)

  const leased = new Set<Lease>()

  return {
    async lease() {
      if (pool.waitingCount >= maxWaiting) throw new NoneFree('Too many wait for a connection')
      try {
        return leaseOf(await pool.connect(), leased)
      } catch (error) {
        if (sqlStateOf(error) !== undefined) throw error
        const isFull = pool.totalCount >= size && pool.idleCount === 0
        throw isFull ? new NoneFree('No connection was free in time', { cause: error }) : lost(error)
      }
    },
    async close() {
      const ended = pool.end()
      // Whoever still has one does not come back: what a server has begun it finishes before this.
      const timer = setTimeout(() => {
        for (const lease of leased) lease.release(true)
      }, closeMs)
      await ended
      clearTimeout(timer)
    },
  }
}

/** A connection that ends where it fails, and nothing else with it. */
class CarefulClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config)
    // One that breaks between two statements would end the process.
    this.on('error', () => undefined)
  }

  override connect(): Promise<pg.Client>
  override connect(callback: (error: Error) => void): void
  override connect(callback?: (error: Error) => void): Promise<pg.Client> | undefined {
    if (!callback) return super.connect()
    super.connect((error: Error) => {
      // `pg` leaves a connection open that waits for a password: the server would keep it for a minute.
      if (error) this.connection.stream.destroy()
      callback(error)
    })
    return undefined
  }
}

function leaseOf(client: PoolClient, leased: Set<Lease>): Lease {
  let isHeld = false

  /** What is sent in one turn leaves together: each write to the network costs as much as a query. */
  function holdForThisTurn(): void {
    if (isHeld) return
    isHeld = true
    const { stream } = client.connection
    stream.cork()
    // After all that only waits for what is there already.
    process.nextTick(() => {
      isHeld = false
      stream.uncork()
    })
  }

  async function query(text: string, values?: Cell[], name?: string): Promise<Answer> {
    holdForThisTurn()
    try {
      // A statement of its own kind has one result, and text, whatever its column's type, is parsed by `parserOf`.
      const { fields, rows, rowCount } = await client.query<Cell[]>({
        text,
        rowMode: 'array' as const,
        ...(values && { values }),
        ...(name !== undefined && { name }),
      })
      return { fields, rows, touched: rowCount ?? 0 }
    } catch (error) {
      throw sqlStateOf(error) === undefined ? lost(error) : error
    }
  }

  const lease: Lease = {
    query,
    release(isBroken = false) {
      if (leased.delete(lease)) client.release(isBroken || client.getTransactionStatus() !== 'I')
    },
  }
  leased.add(lease)
  return lease
}

function lost(error: unknown): ConnectionLost {
  return new ConnectionLost(error instanceof Error ? error.message : String(error), { cause: error })
}

const types = { boolean: 16, bigint: 20, smallint: 21, integer: 23, real: 700, double: 701, numeric: 1700 }
const numbers: readonly number[] = [
  ...[types.bigint, types.smallint, types.integer, types.real, types.double, types.numeric],
]

/** Cells as SQLite has them: a number of any kind as a number, true as 1, and anything else as text, JSON too. */
function parserOf(type: number): (text: string) => Cell {
  if (numbers.includes(type)) return Number
  if (type === types.boolean) return (text) => (text === 't' ? 1 : 0)
  return String
}
