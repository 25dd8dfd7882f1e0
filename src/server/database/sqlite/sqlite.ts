import { chmodSync, existsSync, statSync } from 'node:fs'
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import sql, { type Sql } from 'sql-template-tag'
import { type Cell, DatabaseError, NotMet, type Row, type Store, type Transaction } from '../database.ts'
import { connectionTo, databaseErrorOf, isDamage, lockWaitMs } from './connection.ts'
import { sqliteDialect } from './dialect.ts'
import { groupCommit } from './group-commit.ts'

const maxCachedStatements = 500
/** Between yields to the event loop: a few milliseconds of work. */
const rowsAtOnce = 64

const begin = sql`begin immediate`
const commit = sql`commit`
const savepoint = sql`savepoint item`
const release = sql`release item`

export interface SqliteStore extends Store {
  /** Makes all statements but `write` fail at once with SQLITE_BUSY instead of waiting for another program's lock. */
  waitNoMore(): void
}

/** Waits for locks of other programs until `waitNoMore` is called. Throws DatabaseError if it cannot be opened. */
export function openSqlite(path: string, waitMs = lockWaitMs): SqliteStore {
  try {
    return connect(path, false, waitMs)
  } catch (error) {
    throw databaseErrorOf(path, error)
  }
}

export function openReader(path: string): SqliteStore {
  return connect(path, true, lockWaitMs)
}

/** Mode 0600, also for its companions, and the journal in WAL mode. */
export async function takeIntoUse(database: Store, path: string): Promise<void> {
  // In WAL mode readers never wait for writers.
  await database.run(sql`pragma journal_mode = wal`)
  for (const file of [path, `${path}-wal`, `${path}-shm`]) if (existsSync(file)) chmodSync(file, 0o600)
}

function connect(path: string, readOnly: boolean, waitMs: number): SqliteStore {
  const connection = connectionTo(path, readOnly, waitMs)
  const { one, all, cells, run, within } = statementsOn(connection)
  const dialect = { ...sqliteDialect }
  /** First error of a damaged page. Other pages can still be read, but the server is not ready. */
  let damage: unknown
  const noteDamage: OnError = (error) => {
    if (isDamage(error)) damage ??= error
  }
  const requireLog = watchLog(path)
  const transaction: Transaction = {
    dialect,
    one: <Shape extends Row>(query: Sql) => toPromise(one<Shape>, query, noteDamage),
    all: <Shape extends Row>(query: Sql) => toPromise(all<Shape>, query, noteDamage),
    cells: (query) => toPromise(cells, query, noteDamage),
    run: (query) => toPromise(run, query, noteDamage),
    queue: (query) => void run(query),
    requireRow: (query) => {
      if (!one(query)) throw new NotMet()
    },
    stream: (query) => streamBatches(path, query),
    savepoint: (work) => within(savepoint, release, 'rollback to item; release item', work),
  }
  const turns = makeTurns()
  const view = createSharedView(connection, (work) => inTurn(work))
  const inTurn = <Result>(work: () => Result | Promise<Result>): Promise<Result> =>
    turns.take(async () => {
      view.close()
      try {
        return await work()
      } catch (error) {
        noteDamage(error)
        throw error
      }
    })
  const transact = <Result>(work: (transaction: Transaction) => Promise<Result>) =>
    inTurn(() => within(begin, commit, 'rollback', () => work(transaction)))

  return {
    dialect,
    requireFiles() {
      if (damage) throw databaseErrorOf(path, damage)
      requireLog()
    },
    // Transactions are short runs of microtasks, so usually none is running.
    one: (query) => (turns.areFree() ? transaction.one(query) : inTurn(() => one(query))),
    all: (query) => (turns.areFree() ? transaction.all(query) : inTurn(() => all(query))),
    cells: (query) => (turns.areFree() ? transaction.cells(query) : inTurn(() => cells(query))),
    run: (query) => inTurn(() => run(query)),
    read: (work) =>
      turns.take(() => {
        view.open()
        return work(transaction)
      }),
    write: groupCommit({ transact, inTransaction: () => connection.isTransaction }, waitMs),
    stream: transaction.stream,
    emptyLog: () => inTurn(() => connection.prepare('pragma wal_checkpoint(truncate)').get()?.['busy'] === 0),
    check: () => inTurn(() => problemsIn(all)),
    waitNoMore: () => connection.exec('pragma busy_timeout = 0'),
    close: async () => {
      view.close()
      connection.close()
    },
  }
}

function statementsOn(connection: DatabaseSync) {
  const prepare = createStatementCache((text): Prepared => {
    // For a bare `limit ?` SQLite plans anew with each value, which takes longer than most statements.
    const statement = connection.prepare(text.replaceAll('limit ?', 'limit +?'))
    statement.setReturnArrays(true)
    return { statement, names: statement.columns().map(({ name }) => name) }
  }, maxCachedStatements)

  function one<Shape extends Row>(query: Sql): Shape | undefined {
    const { statement, names } = prepare(query)
    const cells = statement.get(...values(query)) as Cell[] | undefined
    return cells && (rowOf(names, cells) as Shape)
  }

  function all<Shape extends Row>(query: Sql): Shape[] {
    const { names } = prepare(query)
    return cells(query).map((row) => rowOf(names, row) as Shape)
  }

  function cells(query: Sql): Cell[][] {
    // With `setReturnArrays` each row is an array, but its type does not say so.
    return prepare(query).statement.all(...values(query)) as unknown as Cell[][]
  }

  function run(query: Sql): number {
    return Number(prepare(query).statement.run(...values(query)).changes)
  }

  async function within<Result>(
    begin: Sql,
    commit: Sql,
    rollback: string,
    work: () => Promise<Result>,
  ): Promise<Result> {
    prepare(begin).statement.run()
    try {
      const result = await work()
      prepare(commit).statement.run()
      return result
    } catch (error) {
      // After a full disk or a failed commit SQLite has already rolled back.
      if (connection.isTransaction) connection.exec(rollback)
      throw error
    }
  }

  return { one, all, cells, run, within }
}

/** Throws DatabaseError once the log was removed or replaced. */
function watchLog(path: string): () => void {
  let logId: bigint | undefined
  return () => {
    const found = statSync(`${path}-wal`, { throwIfNoEntry: false, bigint: true })?.ino
    // SQLite creates the log at the first write and keeps it while the database is open.
    logId ??= found
    if (found === logId) return
    throw new DatabaseError(path, 'has lost its write-ahead log: the file was removed or replaced')
  }
}

function problemsIn(all: (query: Sql) => Row[]): string[] {
  return [
    ...all(sql`pragma quick_check`)
      .map((row) => String(row['quick_check']))
      .filter((line) => line !== 'ok'),
    ...all(sql`pragma foreign_key_check`).map((row) => `a row of ${row['table']} refers to a missing row`),
  ]
}

/** On a separate connection, opened at the first read. */
async function* streamBatches(path: string, query: Sql): AsyncGenerator<Cell[][], undefined> {
  const connection = connectionTo(path, true, lockWaitMs)
  try {
    const statement = connection.prepare(query.sql)
    statement.setReturnArrays(true)
    let rows: Cell[][] = []
    for (const row of statement.iterate(...values(query)) as Iterable<unknown>) {
      rows.push(row as Cell[])
      if (rows.length < rowsAtOnce) continue
      yield rows
      rows = []
      // Yields to other requests between batches.
      await nextTurn()
    }
    if (rows.length > 0) yield rows
  } finally {
    connection.close()
  }
}

type OnError = (error: unknown) => void

/** Three times as fast as an async function. */
function toPromise<Result>(work: (query: Sql) => Result, query: Sql, onError: OnError): Promise<Result> {
  try {
    return Promise.resolve(work(query))
  } catch (error) {
    onError(error)
    return Promise.reject(error)
  }
}

interface Prepared {
  readonly statement: StatementSync
  readonly names: readonly string[]
}

// node:sqlite's row objects have no prototype, so V8 uses dictionary mode: reading one costs twice as much as
// creating this one.
function rowOf(names: readonly string[], cells: readonly Cell[]): Row {
  const row: Record<string, Cell> = {}
  for (let index = 0; index < names.length; index += 1) row[names[index] ?? ''] = cells[index] ?? null
  return row
}

function values(query: Sql): SQLInputValue[] {
  return query.values.map((value) => (typeof value === 'boolean' ? Number(value) : (value as SQLInputValue)))
}

interface Turns {
  readonly areFree: () => boolean
  take<Result>(work: () => Promise<Result>): Promise<Result>
}

function makeTurns(): Turns {
  const waiting: (() => void)[] = []
  let isTaken = false
  return {
    areFree: () => !isTaken,
    async take(work) {
      // The lock is handed over directly, so it is never free in between.
      if (isTaken) await new Promise<void>((resolve) => waiting.push(resolve))
      isTaken = true
      try {
        return await work()
      } finally {
        const next = waiting.shift()
        if (next) next()
        else isTaken = false
      }
    },
  }
}

interface SharedView {
  /** Opens the snapshot for all following statements until `close`, at the latest in the next turn. */
  open(): void
  /** Closes the snapshot, before a statement that writes or must see the latest data. */
  close(): void
}

/**
 * Creates the shared snapshot of a connection. Locking and unlocking the file is most of the cost of a small read;
 * requests that arrive together share it.
 *
 * @param inTurn runs a function once no transaction is running
 */
function createSharedView(connection: DatabaseSync, inTurn: (work: () => void) => Promise<void>): SharedView {
  const [begin, commit] = [connection.prepare('begin'), connection.prepare('commit')]
  let isOpen = false

  function close(): void {
    const hasEnded = !isOpen
    isOpen = false
    // A disk error may have ended the transaction.
    if (hasEnded || !connection.isTransaction) return
    try {
      commit.run()
    } catch {
      // A damaged page, which its readers have reported: the snapshot only read, so nothing is lost.
      if (connection.isTransaction) connection.exec('rollback')
    }
  }

  return {
    open() {
      if (isOpen) return
      begin.run()
      isOpen = true
      setImmediate(() => void inTurn(close))
    },
    close,
  }
}

interface Known<Statement> {
  readonly strings: readonly string[]
  readonly statement: Statement
}

/**
 * Caches prepared statements by the string pieces of their template. A template reuses the same strings, so identity
 * identifies it: joining and hashing the text would take longer than a small statement.
 */
function createStatementCache<Statement>(
  prepare: (text: string) => Statement,
  most: number,
): (query: Sql) => Statement {
  const byFirst = new Map<string, Known<Statement>[]>()
  let count = 0
  return (query) => {
    const { strings } = query
    const [first = ''] = strings
    const cached = byFirst.get(first)?.find((one) => isSame(one.strings, strings))
    if (cached) return cached.statement
    const statement = prepare(query.sql)
    if (count >= most) {
      byFirst.clear()
      count = 0
    }
    count += 1
    const others = byFirst.get(first) ?? []
    byFirst.set(first, [...others, { strings, statement }])
    return statement
  }
}

function isSame(cached: readonly string[], strings: readonly string[]): boolean {
  if (cached.length !== strings.length) return false
  for (let index = 1; index < cached.length; index += 1) if (cached[index] !== strings[index]) return false
  return true
}
