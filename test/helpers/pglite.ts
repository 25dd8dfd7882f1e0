import { PGlite, types } from '@electric-sql/pglite'
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm'
import type { Cell } from '../../src/server/database/database.ts'
import type { Answer, Connections, Lease } from '../../src/server/database/postgres/connection.ts'
import { dialect } from '../../src/server/database/postgres/dialect.ts'
import { postgresStore } from '../../src/server/database/postgres/postgres-store.ts'
import { migrate } from '../../src/server/database/postgres/schema-version.ts'
import { steps } from './postgres.ts'

const text = (value: string) => value
const parsers = {
  [types.BOOL]: (value: string) => (value === 't' ? 1 : 0),
  ...Object.fromEntries(
    [types.INT8, types.INT4, types.INT2, types.FLOAT4, types.FLOAT8, types.NUMERIC].map((type) => [
      type,
      Number,
    ]),
  ),
  [types.JSON]: text,
  [types.JSONB]: text,
}

/** PostgreSQL in this process, by the same transactions, attempts and schema as a real one: it has one connection. */
export async function openPglite() {
  const database = await PGlite.create({ parsers, extensions: { pg_trgm } })
  const connections = oneConnection(database)

  const lease = await connections.lease()
  await migrate(lease, 'pglite', steps, dialect)
  lease.release()
  return postgresStore({ requests: connections, streams: connections, dialect, pause: async () => undefined })
}

function oneConnection(database: PGlite): Connections {
  let last: Promise<unknown> = Promise.resolve()
  let closed: Promise<void> | undefined
  return {
    async lease(): Promise<Lease> {
      const before = last
      const { promise, resolve } = Promise.withResolvers<void>()
      last = promise
      await before
      async function query(statement: string, values: Cell[] = []): Promise<Answer> {
        const params = values.map((value) => (value === null ? null : String(value)))
        const {
          fields,
          rows,
          affectedRows = 0,
        } = await database.query(statement, params, { rowMode: 'array' })
        // Rows are arrays of what the parsers make, which are cells.
        return { fields, rows: rows as unknown as Cell[][], touched: Math.max(affectedRows, rows.length) }
      }
      return {
        query,
        release(isBroken = false) {
          if (isBroken)
            database.query('rollback').then(
              () => resolve(),
              () => resolve(),
            )
          else resolve()
        },
      }
    },
    close: () => {
      closed ??= database.close()
      return closed
    },
  }
}
