import * as z from 'zod'
import { bare, componentOf } from './fields.ts'
import { type Contract, contract } from './index.ts'
import type { Operation, Query } from './operation.ts'

/** Fields of an operation's response (of an item, for a list) and of its body, nested ones as dotted paths. */
export interface Held {
  readonly answer: readonly string[]
  readonly body: readonly string[]
}

/** Plain data for clients: schemas exist as types only. `defaults` is null if a parameter is required. */
export type Call<O extends Operation = Operation> = O & {
  readonly holds: Held
  /** Name in the OpenAPI document, of an item for a list; null without a response. */
  readonly shows: string | null
  readonly defaults: Query<O> | null
}

type Calls = {
  readonly [Group in keyof Contract]: {
    readonly [Verb in keyof Contract[Group]]: Contract[Group][Verb] extends Operation
      ? Call<Contract[Group][Verb]>
      : never
  }
}

/** The build replaces this module by its value, so that clients do not load zod. */
export const calls = Object.fromEntries(
  Object.entries(contract).map(([group, operations]) => [
    group,
    Object.fromEntries(Object.entries(operations).map(([verb, operation]) => [verb, callOf(operation)])),
  ]),
  // The keys are those of the contract, and clients never read a schema.
) as unknown as Calls

function callOf({ query, body, response, ...operation }: Operation) {
  const answer = operation.list ? itemsIn(response) : response
  const holds: Held = {
    answer: answer ? pathsOf(answer) : [],
    body: body && !operation.merge ? pathsOf(body) : [],
  }
  const defaults = query ? (query.safeParse({}).data ?? null) : {}
  const shows = (answer && componentOf(bare(answer))?.name) ?? null
  return { ...operation, response: response && {}, holds, shows, defaults }
}

/** Nested fields are included. */
function pathsOf(schema: z.ZodType): string[] {
  const inner = bare(schema)
  const object = inner instanceof z.ZodLazy ? inner.unwrap() : inner
  if (!(object instanceof z.ZodObject)) return []
  return Object.entries(object.shape).flatMap(([name, member]) => [
    name,
    ...pathsOf(member as z.ZodType).map((path) => `${name}.${path}`),
  ])
}

function itemsIn(response: z.ZodType | null): z.ZodType | null {
  const items = response instanceof z.ZodObject ? response.shape['data'] : undefined
  return items instanceof z.ZodArray ? (items.element as z.ZodType) : response
}
