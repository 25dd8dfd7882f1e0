import type * as z from 'zod'
import type { JsonObject } from '../../codec/json-text.ts'
import type { Fault } from '../../contract/errors.ts'
import type { Body, Operation } from '../../contract/operation.ts'
import type { Call, Handler, LongHandler, PreparedHandler, Route, UntransactedHandler } from './handler.ts'
import { parseBody, parseQuery, parseResource } from './validation.ts'

/** A missing handler does not compile. */
export function routesOf<Group extends Readonly<Record<string, Operation>>>(
  group: Group,
  handlers: {
    readonly [Verb in keyof Group]:
      | Handler<Group[Verb]>
      | PreparedHandler<Group[Verb]>
      | LongHandler<Group[Verb]>
      | UntransactedHandler<Group[Verb]>
  },
): Route[] {
  return Object.entries(group).map(([verb, operation]) => {
    const handler: unknown = handlers[verb]
    const queryOf = queryParser(operation)
    // The app calls each handler only with its own operation.
    if (typeof handler === 'function') return { operation, queryOf, handle: handler as Route['handle'] }
    return { operation, queryOf, ...(handler as Omit<Route, 'operation' | 'queryOf'>) }
  })
}

/** Maximum length of a query that is cached, and maximum number of them for an operation. */
const cached = { length: 200, count: 100 } as const

/** Caches short queries: most programs repeat few, and validating one takes as long as reading a record. */
function queryParser({ query: schema }: Operation): Route['queryOf'] {
  const bySearch = new Map<string, Record<string, unknown>>()
  return (search) => {
    const known = bySearch.get(search)
    if (known) return known
    const query = Object.freeze(parseQuery(schema, search))
    if (bySearch.size >= cached.count) bySearch.clear()
    if (search.length <= cached.length) bySearch.set(search, query)
    return query
  }
}

/** Validates the body by the operation's schema; throws 422 with all faults. */
export function bodyOf<O extends Operation>(call: Call<O>): Body<O> {
  if (!call.operation.body) throw new TypeError(`${call.operation.id} has no body`)
  return parseBody(call.operation.body, call.rawBody) as Body<O>
}

/** Merged into the stored resource, if any; throws 422. */
export function resourceOf<Schema extends z.ZodObject>(
  call: Call,
  schema: Schema,
  shown: z.ZodType,
  current?: object,
  found?: readonly Fault[],
): z.output<Schema> {
  return parseResource(schema, shown, call.rawBody, current as JsonObject | undefined, found)
}
