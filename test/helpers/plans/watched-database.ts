import type { Sql } from 'sql-template-tag'
import type { Database } from '../../../src/server/database/database.ts'

/** Callbacks for each statement. */
interface Watch {
  /** Called with each statement. */
  readonly seen: (statement: Sql) => void
  /** Replaces the answer of a statement (default: returns it unchanged). */
  readonly answered?: (statement: Sql, answer: unknown) => unknown
}

/** Returns a database that reports its statements, also those in transactions. */
export function watchDatabase<Watched extends object = Database>(database: Watched, watch: Watch): Watched {
  const { seen, answered } = watch
  return new Proxy(database, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      return (...given: unknown[]) => {
        const [first, ...rest] = given
        if (isSql(first)) seen(first)
        if (typeof first !== 'function') {
          const answer: unknown = Reflect.apply(member, target, given)
          if (!answered || !isSql(first) || !(answer instanceof Promise)) return answer
          return answer.then((said) => answered(first, said))
        }
        const work = (inner?: object) =>
          Reflect.apply(first, undefined, inner ? [watchDatabase(inner, watch)] : [])
        return Reflect.apply(member, target, [work, ...rest])
      }
    },
  })
}

function isSql(value: unknown): value is Sql {
  return typeof value === 'object' && value !== null && 'sql' in value && 'values' in value
}
