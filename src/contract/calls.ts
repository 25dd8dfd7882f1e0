import * as z from 'zod'
import { type Contract, contract } from './index.ts'
import type { Operation, Query } from './operation.ts'
import { bare } from './patch.ts'

/** The fields of an operation's answer (of the items, in a list) and of its body, those inside objects as dotted paths. */
export interface Held {
  readonly answer: readonly string[]
  readonly body: readonly string[]
}

/**
 * An operation as one who calls it needs it: plain data. Its schemas are there as types alone; `defaults` is its query where
 * no parameter is given, null where one is required.
 */
export type Call<O extends Operation = Operation> = O & {
  readonly holds: Held
  readonly defaults: Query<O> | null
}

type Calls = {
  readonly [Group in keyof Contract]: {
    readonly [Verb in keyof Contract[Group]]: Contract[Group][Verb] extends Operation
      ? Call<Contract[Group][Verb]>
      : never
  }
}

/** The whole API for those who call it. The build puts the value in place of this module, so that no call loads zod. */
export const calls = Object.fromEntries(
  Object.entries(contract).map(([group, operations]) => [
    group,
    Object.fromEntries(Object.entries(operations).map(([verb, operation]) => [verb, callOf(operation)])),
  ]),
  // The keys are the contract's own, and a schema is never looked at as one.
) as unknown as Calls

function callOf({ query, body, response, ...operation }: Operation) {
  const answer = operation.list ? itemsIn(response) : response
  const holds: Held = {
    answer: answer ? pathsOf(answer) : [],
    body: body && !operation.merge ? pathsOf(body) : [],
  }
  const defaults = query ? (query.safeParse({}).data ?? null) : {}
  return { ...operation, response: response && {}, holds, defaults }
}

/** Every field and every field of objects in it, as dotted paths. */
function pathsOf(schema: z.ZodType): string[] {
  const inner = bare(schema)
  const object = inner instanceof z.ZodLazy ? inner.unwrap() : inner
  if (!(object instanceof z.ZodObject)) return []
  return Object.entries(object.shape).flatMap(([name, member]) => [
    name,
    ...pathsOf(member as z.ZodType).map((path) => `${name}.${path}`),
  ])
}

/** The schema of one item of a page. */
function itemsIn(response: z.ZodType | null): z.ZodType | null {
  const items = response instanceof z.ZodObject ? response.shape['data'] : undefined
  return items instanceof z.ZodArray ? (items.element as z.ZodType) : response
}
