import { ApiError, NotOfferedError, ProtocolError } from '../../client/errors.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import type { Call } from '../../contract/calls.ts'
import { maxPageSize } from '../../contract/constants.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Given } from '../command/command.ts'
import { CommandError } from '../terminal/errors.ts'
import type { Find, Finding } from './operation-spec.ts'

/** Names need not be unique. */
export interface Named {
  readonly list: () => Promise<Call>
  readonly argument: string
  /** An id of our server needs no lookup. */
  readonly id: RegExp
  /** Plural noun: `API keys`. */
  readonly several: string
  /** False for a thing that is no longer valid. */
  readonly counts?: (thing: JsonObject) => boolean
  readonly apart: (thing: JsonObject) => string
}

/** Reads the list once. Throws a CommandError that lists all things of an ambiguous name. */
export function findNamed(named: Named): (finding: Finding) => Find {
  const { argument, id: ours, several, counts = () => true, apart } = named
  return (finding) => {
    let read: Promise<readonly JsonObject[]> | null = null
    return async ({ arguments: given }: Given) => {
      const text = given[argument] ?? ''
      if (ours.test(text)) return text
      const operation: Operation = await named.list()
      read ??= itemsOf(finding, operation, {})
      const items = await read
      const id = (item: JsonObject) => String(item[operation.identifier ?? 'id'])
      if (items.some((item) => id(item) === text)) return text
      const matches = items.filter((item) => item['name'] === text && counts(item))
      if (matches.length > 1) {
        throw new CommandError(
          'ambiguous',
          'usage',
          `${matches.length} ${several} are named ${JSON.stringify(text)}`,
          {
            why: matches.map((item) => `${id(item)}: ${apart(item)}`),
            hint: 'Use the id',
          },
        )
      }
      // Let the platform report an unknown name.
      return (matches[0] && id(matches[0])) ?? text
    }
  }
}

/** The newest valid one; null if there is none. */
export async function itemNamed(
  finding: Finding,
  operation: Operation,
  query: Readonly<Record<string, unknown>>,
  matches: (thing: JsonObject) => boolean,
): Promise<JsonObject | null> {
  return (await itemsOf(finding, operation, query)).find(matches) ?? null
}

async function itemsOf(
  { caller, context }: Finding,
  operation: Operation,
  filters: Readonly<Record<string, unknown>>,
): Promise<readonly JsonObject[]> {
  const items: JsonObject[] = []
  try {
    const query = { ...filters, limit: maxPageSize }
    for await (const { data } of caller.pages(operation, { query, signal: context.io.signal })) {
      items.push(...data.filter(isJsonObject))
    }
  } catch (error) {
    const unknown =
      error instanceof NotOfferedError ||
      error instanceof ProtocolError ||
      (error instanceof ApiError && error.status === 403)
    if (!unknown) throw error
  }
  return items
}

export async function recordsOf(
  { context, caller }: Finding,
  operation: Operation,
  query: Readonly<Record<string, unknown>>,
): Promise<JsonObject[]> {
  const found: JsonObject[] = []
  for await (const { data } of caller.pages(operation, { query, signal: context.io.signal })) {
    found.push(...data.filter(isJsonObject))
  }
  return found
}
