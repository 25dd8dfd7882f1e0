import { chmodSync, existsSync, statSync } from 'node:fs'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import sql, { type Sql } from 'sql-template-tag'
import { type Cell, DatabaseError, NotMet, type Row, type Store, type Transaction } from '../database.ts'
import { sqliteDialect } from './dialect.ts'
import { databaseErrorOf } from './file-fault.ts'
import { groupCommit } from './group-commit.ts'
import { checkpointPages, logLimitBytes } from './write-ahead-log.ts'

const cachedStatements = 500
/** Rows of a stream between which others have their turn: a few milliseconds' worth. */
const rowsAtOnce = 64

const begin = sql`begin immediate`
const commit = sql`commit`
const savepoint = sql`savepoint item`
const release = sql`release item`

/** How long a write waits for the lock of another program, unless told otherwise. */
export const lockWaitMs = 10_000

/** A SQLite file. */
export interface SqliteStore extends Store {
  /** From now on only `write` waits for the lock of another program; anything else fails at once, SQLITE_BUSY. */
  waitNoMore(): void
}

/**
 * Opens a SQLite file. Whoever opens it waits for the locks of other programs until `waitNoMore`. Throws DatabaseError
 * where it cannot be opened.
 */
export function openSqlite(path: string, waitMs = lockWaitMs): SqliteStore {
  try {
    return connect(path, false, waitMs)
  } catch (error) {
    throw databaseErrorOf(path, error)
  }
}

/** Opens a file that an academy is in, for reading alone. */
export function openReader(path: string): SqliteStore {
  return connect(path, true, lockWaitMs)
}

/** Makes a file that is known to be ours private, with all that SQLite keeps beside it, and sets its journal to WAL. */
export async function takeIntoUse(database: Store, path: string): Promise<void> {
  // Readers never wait for writers.
  await database.run(sql`pragma journal_mode = wal`)
  for (const file of [path, `${path}-wal`, `${path}-shm`]) if (existsSync(file)) chmodSync(file, 0o600)
}

// What is deleted is overwritten with zeros (SQLite, PRAGMA secure_delete): an erased person leaves no trace in the file.
const writerPragmas = `pragma synchronous = normal; pragma secure_delete = on;
  pragma journal_size_limit = ${logLimitBytes}; pragma wal_autocheckpoint = ${checkpointPages}`

/** A plain connection to a file, set up as all are. Throws what SQLite says. */
export function connectionTo(path: string, readOnly: boolean, waitMs: number): DatabaseSync {
  const connection = new DatabaseSync(path, {
    readOnly,
    timeout: waitMs,
    enableForeignKeyConstraints: true,
  })
  if (!readOnly) connection.exec(writerPragmas)
  // SQLite's own lower() folds ASCII only.
  connection.function('lower', { deterministic: true }, (text) =>
    typeof text === 'string' ? text.toLowerCase() : text,
  )
  return connection
}

function connect(path: string, readOnly: boolean, waitMs: number): SqliteStore {
  const connection = connectionTo(path, readOnly, waitMs)
  const prepare = statementCache((text): Prepared => {
    // For a limit that is a bare parameter SQLite plans anew with each value, which takes longer than most statements.
    const statement = connection.prepare(text.replaceAll('limit ?', 'limit +?'))
    statement.setReturnArrays(true)
    return { statement, names: statement.columns().map(({ name }) => name) }
  }, cachedStatements)

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
      // A full disk or a failed commit has already rolled the transaction back.
      if (connection.isTransaction) connection.exec(rollback)
      throw error
    }
  }

  function one<Shape extends Row>(query: Sql): Shape | undefined {
    const { statement, names } = prepare(query)
    const cells = statement.get(...values(query)) as Cell[] | undefined
    return cells && (rowOf(names, cells) as Shape)
  }

  function all<Shape extends Row>(query: Sql): Shape[] {
    const { names } = prepare(query)
    // A row holds what its statement selects: the shape is the statement's, which no type can see.
    return cells(query).map((row) => rowOf(names, row) as Shape)
  }

  function cells(query: Sql): Cell[][] {
    return prepare(query).statement.all(...values(query)) as unknown as Cell[][]
  }

  function run(query: Sql): number {
    return Number(prepare(query).statement.run(...values(query)).changes)
  }

  const dialect = { ...sqliteDialect }
  const transaction: Transaction = {
    dialect,
    one: <Shape extends Row>(query: Sql) => promised(one<Shape>, query),
    all: <Shape extends Row>(query: Sql) => promised(all<Shape>, query),
    cells: (query) => promised(cells, query),
    run: (query) => promised(run, query),
    later: (query) => void run(query),
    must: (query) => {
      if (!one(query)) throw new NotMet()
    },
    stream: (query) => batches(path, query),
    savepoint: (work) => within(savepoint, release, 'rollback to item; release item', work),
  }
  const turns = makeTurns()
  const view = sharedView(connection, (work) => inTurn(work))
  const inTurn = <Result>(work: () => Result | Promise<Result>): Promise<Result> =>
    turns.take(async () => {
      view.close()
      return work()
    })
  const transact = <Result>(work: (transaction: Transaction) => Promise<Result>) =>
    inTurn(() => within(begin, commit, 'rollback', () => work(transaction)))

  let logId: bigint | undefined

  return {
    dialect,
    requireFiles() {
      const found = statSync(`${path}-wal`, { throwIfNoEntry: false, bigint: true })?.ino
      // From the first write on SQLite keeps the log for as long as the database is open.
      logId ??= found
      if (found === logId) return
      throw new DatabaseError(path, 'has lost its write-ahead log: the file was removed or replaced')
    },
    // A transaction is a run of microtasks: mostly none is under way.
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
    check: () => inTurn(check),
    waitNoMore: () => connection.exec('pragma busy_timeout = 0'),
    close: async () => {
      view.close()
      connection.close()
    },
  }

  function check(): string[] {
    return [
      ...all(sql`pragma quick_check`)
        .map((row) => String(row['quick_check']))
        .filter((line) => line !== 'ok'),
      ...all(sql`pragma foreign_key_check`).map((row) => `a row of ${row['table']} refers to a missing row`),
    ]
  }
}

/** Rows on a connection of their own, which is opened when the first are asked for. */
async function* batches(path: string, query: Sql): AsyncGenerator<Cell[][], undefined> {
  const connection = connectionTo(path, true, lockWaitMs)
  try {
    const statement = connection.prepare(query.sql)
    statement.setReturnArrays(true)
    let rows: Cell[][] = []
    for (const row of statement.iterate(...values(query)) as Iterable<unknown>) {
      // With `setReturnArrays` each row is an array, which its type does not say.
      rows.push(row as Cell[])
      if (rows.length < rowsAtOnce) continue
      yield rows
      rows = []
      // Other requests get their turn between two pieces.
      await nextTurn()
    }
    if (rows.length > 0) yield rows
  } finally {
    connection.close()
  }
}

/** What an asynchronous function would make of it, which takes three times as long. */
function promised<Result>(work: (query: Sql) => Result, query: Sql): Promise<Result> {
  try {
    return Promise.resolve(work(query))
  } catch (error) {
    return Promise.reject(error)
  }
}

interface Prepared {
  readonly statement: StatementSync
  readonly names: readonly string[]
}

// node:sqlite's own row objects have no prototype, which V8 keeps as dictionaries: reading one costs twice as much
// as making this.
function rowOf(names: readonly string[], cells: readonly Cell[]): Row {
  const row: Record<string, Cell> = {}
  for (let index = 0; index < names.length; index += 1) row[names[index] ?? ''] = cells[index] ?? null
  return row
}

function values(query: Sql): SQLInputValue[] {
  return query.values.map((value) => (typeof value === 'boolean' ? Number(value) : (value as SQLInputValue)))
}

/** Transactions that take turns on one connection, in the order in which they came. */
interface Turns {
  /** True while no transaction has the turn. */
  readonly areFree: () => boolean
  /** Does the work once the one before has ended. */
  take<Result>(work: () => Promise<Result>): Promise<Result>
}

function makeTurns(): Turns {
  const waiting: (() => void)[] = []
  let isTaken = false
  return {
    areFree: () => !isTaken,
    async take(work) {
      // Handed over from one to the next, it is never free in between.
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

/** One unchanging view of the data for all reads of one turn of the event loop. */
interface SharedView {
  /** Makes every statement from now on one of the view, until it is closed: in the next turn at the latest. */
  open(): void
  /** Ends the view, before anything that writes or must see the latest data. */
  close(): void
}

/**
 * The view of a connection. Most of what a small read takes is locking the file and unlocking it: requests that came
 * together share that.
 *
 * @param inTurn does something once no transaction is under way
 */
function sharedView(connection: DatabaseSync, inTurn: (work: () => void) => Promise<void>): SharedView {
  const [begin, commit] = [connection.prepare('begin'), connection.prepare('commit')]
  let isOpen = false

  function close(): void {
    // A fault of the disk may have ended it.
    if (isOpen && connection.isTransaction) commit.run()
    isOpen = false
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
 * Caches prepared statements by the pieces of their text between the values. The pieces of a template are the same strings
 * each time, which is seen at once: to put the text together and to look it up takes longer than a small statement.
 */
function statementCache<Statement>(
  prepare: (text: string) => Statement,
  most: number,
): (query: Sql) => Statement {
  const byFirst = new Map<string, Known<Statement>[]>()
  let count = 0
  return (query) => {
    const { strings } = query
    const [first = ''] = strings
    const known = byFirst.get(first)?.find((one) => isSame(one.strings, strings))
    if (known) return known.statement
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

function isSame(known: readonly string[], strings: readonly string[]): boolean {
  if (known.length !== strings.length) return false
  for (let index = 1; index < known.length; index += 1) if (known[index] !== strings[index]) return false
  return true
}
