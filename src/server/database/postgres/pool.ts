import pg, { type PoolClient } from 'pg'
import type { Cell } from '../database.ts'
import { ConnectionLost, PoolExhausted, sqlStateOf } from './faults.ts'

/** `touched` is the number of rows returned or changed. */
export interface Answer {
  readonly fields: readonly { readonly name: string }[]
  readonly rows: Cell[][]
  readonly touched: number
}

/**
 * Statements run in the order of the calls and are pipelined: each is sent without waiting for earlier results, and all
 * of one turn of the event loop leave in one write.
 */
export interface Connection {
  /** The same text is prepared once on this connection under `name`; without, it is parsed each time. */
  query(text: string, values?: Cell[], name?: string): Promise<Answer>
}

export interface Lease extends Connection {
  /** Closes the connection if it is broken or still inside a transaction. */
  release(isBroken?: boolean): void
}

export interface Connections {
  /** Throws if no connection is free in time or PostgreSQL accepts no more. */
  lease(): Promise<Lease>
  close(): Promise<void>
}

interface PoolOptions {
  /** The password is a function, called for each connection. */
  readonly client: pg.ClientConfig
  readonly size: number
  readonly waitMs: number
  /** 0 for none. */
  readonly statementMs: number
  readonly lockMs: number
  /** Beyond the statement timeout: only a dead connection takes that long. */
  readonly graceMs?: number
}

const idleMs = 60_000
/** A hanging process must not hold locks for ever. */
const idleInTransactionMs = 180_000
const keepAliveMs = 30_000
const closeMs = 1000

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
  // An idle connection that breaks is replaced on demand; without a listener the error would end the process.
  pool.on('error', () => undefined)

  const leased = new Set<Lease>()

  return {
    async lease() {
      try {
        return leaseOf(await pool.connect(), leased)
      } catch (error) {
        if (sqlStateOf(error) !== undefined) throw error
        const isFull = pool.totalCount >= size && pool.idleCount === 0
        throw isFull
          ? new PoolExhausted('No connection was free in time', { cause: error })
          : toConnectionLost(error)
      }
    },
    async close() {
      const ended = pool.end()
      // Leases that are still out were abandoned: the server finishes its requests before it closes the pool.
      const timer = setTimeout(() => {
        for (const lease of leased) lease.release(true)
      }, closeMs)
      await ended
      clearTimeout(timer)
    },
  }
}

class CarefulClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config)
    // An error between two statements would otherwise be unhandled.
    this.on('error', () => undefined)
  }

  override connect(): Promise<pg.Client>
  override connect(callback: (error: Error) => void): void
  override connect(callback?: (error: Error) => void): Promise<pg.Client> | undefined {
    if (!callback) return super.connect()
    super.connect((error: Error) => {
      // `pg` leaves a connection open that waits for a password; the server would keep it for a minute.
      if (error) this.connection.stream.destroy()
      callback(error)
    })
    return undefined
  }
}

function leaseOf(client: PoolClient, leased: Set<Lease>): Lease {
  let isHeld = false

  /** Corks the socket until the end of this turn: each write to the network costs as much as a query. */
  function holdForThisTurn(): void {
    if (isHeld) return
    isHeld = true
    const { stream } = client.connection
    stream.cork()
    // Runs after all callbacks whose promises are already resolved.
    process.nextTick(() => {
      isHeld = false
      stream.uncork()
    })
  }

  async function query(text: string, values?: Cell[], name?: string): Promise<Answer> {
    holdForThisTurn()
    try {
      // `query` returns one result for one statement, and every type goes through `parserOf`.
      const { fields, rows, rowCount } = await client.query<Cell[]>({
        text,
        rowMode: 'array' as const,
        ...(values && { values }),
        ...(name !== undefined && { name }),
      })
      return { fields, rows, touched: rowCount ?? 0 }
    } catch (error) {
      throw sqlStateOf(error) === undefined ? toConnectionLost(error) : error
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

function toConnectionLost(error: unknown): ConnectionLost {
  return new ConnectionLost(error instanceof Error ? error.message : String(error), { cause: error })
}

const types = { boolean: 16, bigint: 20, smallint: 21, integer: 23, real: 700, double: 701, numeric: 1700 }
const numbers: readonly number[] = [
  ...[types.bigint, types.smallint, types.integer, types.real, types.double, types.numeric],
]

/** Numbers as numbers, true as 1, all else as text, including JSON: as from SQLite. */
function parserOf(type: number): (text: string) => Cell {
  if (numbers.includes(type)) return Number
  if (type === types.boolean) return (text) => (text === 't' ? 1 : 0)
  return String
}
