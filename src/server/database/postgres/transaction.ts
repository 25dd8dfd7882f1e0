import sql, { type Sql } from 'sql-template-tag'
import { unavailable } from '../../problem-error.ts'
import { type Cell, type Database, NotMet, type Row, type Transaction } from '../database.ts'
import { isAborted, isConflict, isDivision, isLost, isStalePlan } from './faults.ts'
import type { Answer, Connection } from './pool.ts'

interface Surroundings extends Pick<Database, 'dialect' | 'stream'> {
  /** Undefined for a text that is parsed each time. */
  readonly nameOf: (text: string) => string | undefined
}

/** Leases a connection until it ends. `begin` and savepoints are not awaited but sent with the next statement. */
export class OpenTransaction {
  readonly statements: Transaction
  readonly #connection: Connection
  readonly #begin: string
  readonly #nameOf: Surroundings['nameOf']
  #hasBegun = false
  #hasEnded = false
  #depth = 0
  /** The first error: after it PostgreSQL refuses all further statements up to the savepoint before it. */
  #failure: unknown
  #obstacle: unknown
  /** Result of the last statement of `queue` or `requireRow`. */
  #unanswered: Promise<unknown> | undefined

  constructor(connection: Connection, begin: string, { dialect, stream, nameOf }: Surroundings) {
    this.#connection = connection
    this.#begin = begin
    this.#nameOf = nameOf
    this.statements = {
      dialect,
      stream,
      ...statementsBy((query) => this.#query(query)),
      queue: (query) => this.#queue(query),
      requireRow: (query) => this.#requireRow(query),
      savepoint: (work) => this.#savepoint(work),
    }
  }

  /**
   * Returns the reason to retry or give up, even if `work` caught it: a conflict, a stale plan, or an unmet
   * condition.
   */
  obstacle(): unknown {
    return this.#obstacle
  }

  /** Throws an obstacle, an error that no savepoint undid, and 503 if the outcome of the commit is unknown. */
  async commit(): Promise<void> {
    this.#requireWhole()
    try {
      await this.#end('commit')
    } catch (error) {
      if (isLost(error)) throw unknownOutcome(error)
      return this.#fail(error)
    }
    // PostgreSQL answers a commit after a failed statement with a rollback, not with an error.
    this.#requireWhole()
  }

  /** Throws if the connection is lost, which rolls back as well. */
  rollback(): Promise<void> {
    return this.#end('rollback')
  }

  #query(query: Sql): Promise<Answer> {
    return this.#send(query).catch((error: unknown) => this.#fail(error))
  }

  #send(query: Sql): Promise<Answer> {
    const { text } = query
    const values = valuesOf(query)
    this.#ensureBegun()
    return this.#connection.query(text, values, this.#nameOf(text))
  }

  #ensureBegun(): void {
    // The connection may already be leased to another transaction.
    if (this.#hasEnded) throw new Error('A statement came after the end of its transaction')
    if (!this.#hasBegun) this.#sendAhead(this.#begin)
    this.#hasBegun = true
  }

  /** Fails only if the connection is lost; the statement after it then fails, too. */
  #sendAhead(text: string): void {
    this.#connection
      .query(text)
      .catch((error: unknown) => this.#fail(error))
      .catch(ignoreRecorded)
  }

  /** Throws the first error if this one is only its consequence. */
  #fail(error: unknown): never {
    this.#failure ??= error
    if (isConflict(error) || isStalePlan(error) || error instanceof NotMet) this.#obstacle ??= error
    throw isAborted(error) ? this.#failure : error
  }

  #queue(statement: Sql): void {
    // Results arrive in the order of the statements.
    this.#unanswered = this.#query(statement).catch(ignoreRecorded)
  }

  /** Fails if there is no row, so that all statements pipelined after it fail, including the commit. */
  #requireRow(query: Sql): void {
    const statement = sql`select 1 / count(*) from (${query}) found`
    this.#unanswered = this.#send(statement)
      .catch((error: unknown) => this.#fail(isDivision(error) ? new NotMet() : error))
      .catch(ignoreRecorded)
  }

  async #savepoint<Result>(work: () => Promise<Result>): Promise<Result> {
    const before = this.#failure
    this.#depth += 1
    const name = `level_${this.#depth}`
    this.#ensureBegun()
    this.#sendAhead(`savepoint ${name}`)
    try {
      const result = await work()
      await this.#unanswered
      if (this.#failure !== before) throw this.#failure
      this.#sendAhead(`release ${name}`)
      return result
    } catch (error) {
      if (this.#failure === undefined || !isLost(this.#failure)) {
        this.#sendAhead(`rollback to ${name}`)
        await this.#connection.query(`release ${name}`)
        this.#failure = before
      }
      throw error
    } finally {
      this.#depth -= 1
    }
  }

  async #end(statement: 'commit' | 'rollback'): Promise<void> {
    this.#hasEnded = true
    if (this.#hasBegun) await this.#connection.query(statement)
  }

  #requireWhole(): void {
    const refusal = this.#obstacle ?? this.#failure
    if (refusal !== undefined) throw refusal
  }
}

/** The error was recorded by `#fail`. */
function ignoreRecorded(): void {}

function unknownOutcome(cause: unknown): Error {
  return unavailable(
    'The connection to the database was lost during the commit: the change may have been saved or not.',
    1,
    cause,
  )
}

type Send = (query: Sql) => Promise<Answer>

export function statementsBy(send: Send): Pick<Database, 'one' | 'all' | 'cells' | 'run'> {
  return {
    // The caller names the shape; the type system cannot check it against the SQL.
    one: async <Shape extends Row>(query: Sql) => {
      const { fields, rows } = await send(query)
      return rows[0] && (rowOf(fields, rows[0]) as Shape)
    },
    all: async <Shape extends Row>(query: Sql) => {
      const { fields, rows } = await send(query)
      return rows.map((cells) => rowOf(fields, cells) as Shape)
    },
    cells: async (query) => (await send(query)).rows,
    run: async (query) => (await send(query)).touched,
  }
}

function rowOf(fields: Answer['fields'], cells: readonly Cell[]): Row {
  const row: Record<string, Cell> = {}
  for (let index = 0; index < fields.length; index += 1) row[fields[index]?.name ?? ''] = cells[index] ?? null
  return row
}

/** A boolean is 1 or 0, as in SQLite. */
export function valuesOf({ values }: Sql): Cell[] {
  return values.map((value) => {
    if (typeof value === 'boolean') return Number(value)
    if (value === null || typeof value === 'string' || typeof value === 'number') return value
    throw new TypeError(`A statement cannot take a value of type ${typeof value}`)
  })
}
