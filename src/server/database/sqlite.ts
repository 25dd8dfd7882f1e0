import { chmodSync, existsSync, statSync } from 'node:fs'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import sql, { type Sql } from 'sql-template-tag'
import { type Cell, type Database, DatabaseError, type Row } from './database.ts'
import { groupCommit } from './group-commit.ts'

const cachedStatements = 500
const logLimitBytes = 16 * 1024 * 1024

/** How long a write waits for the lock of another program, unless told otherwise. */
export const lockWaitMs = 10_000

/**
 * Opens a SQLite file. Whoever opens it waits for the locks of other programs until `waitNoMore`. Throws DatabaseError
 * where it cannot be opened.
 */
export function openSqlite(path: string, waitMs = lockWaitMs): Database {
  try {
    return connect(path, false, waitMs)
  } catch (error) {
    throw databaseErrorOf(path, error)
  }
}

/** Opens a file that an academy is in, for reading alone. */
export function openReader(path: string): Database {
  return connect(path, true, lockWaitMs)
}

/**
 * Brings what is in a large write-ahead log into the file, and gives back its room: a reader that reads for long keeps
 * it from being used again. Where somebody still reads, this is left to the next one.
 */
export function shortenLog(path: string, limitBytes = logLimitBytes): void {
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false })
  if (!log || log.size <= limitBytes) return
  const connection = new DatabaseSync(path, { timeout: 0 })
  try {
    // The first one holds up nobody, and leaves little to the second, for which writes have to wait.
    connection.exec('pragma wal_checkpoint(passive); pragma wal_checkpoint(truncate)')
  } finally {
    connection.close()
  }
}

/** Makes a file that is known to be ours private, with all that SQLite keeps beside it, and sets its journal to WAL. */
export function takeIntoUse(database: Database, path: string): void {
  // Readers never wait for writers.
  database.run(sql`pragma journal_mode = wal`)
  for (const file of [path, `${path}-wal`, `${path}-shm`]) if (existsSync(file)) chmodSync(file, 0o600)
}

/** Any fault of a database file as a DatabaseError. */
export function databaseErrorOf(path: string, error: unknown): DatabaseError {
  return error instanceof DatabaseError ? error : new DatabaseError(path, reasonOf(error), { cause: error })
}

function connect(path: string, readOnly: boolean, waitMs: number): Database {
  const connection = new DatabaseSync(path, {
    readOnly,
    timeout: waitMs,
    enableForeignKeyConstraints: true,
  })
  // What is deleted is overwritten with zeros (SQLite, PRAGMA secure_delete): an erased person leaves no trace in the file.
  if (!readOnly) connection.exec('pragma synchronous = normal; pragma secure_delete = on')
  if (!readOnly) connection.exec(`pragma journal_size_limit = ${logLimitBytes}`)
  // SQLite's own lower() folds ASCII only.
  connection.function('lower', { deterministic: true }, (text) =>
    typeof text === 'string' ? text.toLowerCase() : text,
  )
  const prepared = new Map<string, Prepared>()

  function prepare(text: string): Prepared {
    const known = prepared.get(text)
    if (known) return known
    if (prepared.size >= cachedStatements) prepared.clear()
    const statement = connection.prepare(text)
    statement.setReturnArrays(true)
    const made = { statement, names: statement.columns().map(({ name }) => name) }
    prepared.set(text, made)
    return made
  }

  function within<Result>(begin: string, commit: string, rollback: string, work: () => Result): Result {
    prepare(begin).statement.run()
    try {
      const result = work()
      prepare(commit).statement.run()
      return result
    } catch (error) {
      // A full disk or a failed commit has already rolled the transaction back.
      if (connection.isTransaction) connection.exec(rollback)
      throw error
    }
  }

  const transaction = <Result>(work: () => Result) => within('begin immediate', 'commit', 'rollback', work)
  const savepoint = <Result>(work: () => Result) =>
    within('savepoint item', 'release item', 'rollback to item; release item', work)

  return {
    one: <Shape extends Row>(query: Sql) => {
      const { statement, names } = prepare(query.sql)
      const cells = statement.get(...values(query)) as Cell[] | undefined
      return cells && (rowOf(names, cells) as Shape)
    },
    all: <Shape extends Row>(query: Sql) => {
      const { statement, names } = prepare(query.sql)
      const rows = statement.all(...values(query)) as unknown as Cell[][]
      // A row holds what its statement selects: the shape is the statement's, which no type can see.
      return rows.map((cells) => rowOf(names, cells) as Shape)
    },
    run: (query) => Number(prepare(query.sql).statement.run(...values(query)).changes),
    stream(query) {
      const iterate = () =>
        prepare(query.sql).statement.iterate(...values(query)) as unknown as IterableIterator<Cell[]>
      try {
        return iterate()
      } catch {
        // A statement that failed half-way tells that fault once more when it is begun anew.
        prepared.delete(query.sql)
        return iterate()
      }
    },
    transaction,
    savepoint,
    write: groupCommit({ transaction, savepoint, inTransaction: () => connection.isTransaction }, waitMs),
    snapshot: (work) => within('begin', 'commit', 'rollback', work),
    reader: () => openReader(path),
    emptyLog: () => connection.prepare('pragma wal_checkpoint(truncate)').get()?.['busy'] === 0,
    waitNoMore: () => connection.exec('pragma busy_timeout = 0'),
    close: () => connection.close(),
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

/** What SQLite or the file system said, for a person: no stack, no number. */
export function reasonOf(error: unknown): string {
  const {
    code,
    errcode: extended = 0,
    message,
  } = error as { code?: string; errcode?: number; message?: string }
  // The lowest byte says what it is, the others more of it (SQLite, Result and Error Codes).
  const errcode = extended & 0xff
  if (errcode === 11) return 'is damaged, or part of it is missing'
  if (errcode === 26) return 'is not a SQLite database'
  if (errcode === 5 || errcode === 6) return 'is locked by another process'
  if (errcode === 8 || code === 'EROFS') return 'is read-only'
  if (errcode === 10) return 'cannot be read or written: the disk reports an error'
  if (errcode === 13 || code === 'ENOSPC') return 'cannot be written: the disk is full'
  if (code === 'EACCES' || code === 'EPERM') return 'cannot be opened: permission denied'
  if (code === 'EISDIR') return 'is a directory'
  if (code === 'ENOTDIR' || code === 'EEXIST') return 'cannot be created: part of its path is a file'
  return `cannot be opened: ${message ?? String(error)}`
}
