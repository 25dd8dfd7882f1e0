import type { Sql } from 'sql-template-tag'
import type { Database } from '../../../src/server/database/database.ts'

/** What a watched database does besides. */
export interface Watch {
  /** Is told the text of each statement. */
  readonly seen: (statement: string) => void
  /** The row that a statement answers with in place of what the table holds; undefined for that. */
  readonly instead: (statement: string) => object | undefined
}

/** A database whose statements are watched, those of its transactions, too. */
export function watched<Watched extends object = Database>(database: Watched, watch: Watch): Watched {
  return new Proxy(database, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      return (...given: unknown[]) => {
        const [first, ...rest] = given
        if (isStatement(first)) {
          watch.seen(first.sql)
          const row = watch.instead(first.sql)
          if (row && name === 'one') return row
        }
        if (typeof first !== 'function') return Reflect.apply(member, target, given)
        const work = (inner?: object) => Reflect.apply(first, undefined, inner ? [watched(inner, watch)] : [])
        return Reflect.apply(member, target, [work, ...rest])
      }
    },
  })
}

function isStatement(value: unknown): value is Sql {
  return typeof value === 'object' && value !== null && 'sql' in value && 'values' in value
}
