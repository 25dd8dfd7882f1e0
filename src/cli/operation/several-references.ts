import type { Caller } from '../../client/caller.ts'
import type { JsonObject } from '../../codec/json-object.ts'
import { splitReferences } from '../../codec/reference.ts'
import { platformName } from '../../config/target.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Context } from '../command/context.ts'
import { valueAt } from '../output/columns.ts'
import { CommandError } from '../terminal/errors.ts'
import { publishedApi, publishedOperation } from './published-api.ts'

/**
 * A platform elsewhere may understand one reference alone, and would send the rows of another course, of none or of
 * all: several are sent only where its OpenAPI document says that the parameter is a list. Throws a CommandError
 * otherwise.
 *
 * @param flagOf the flag of a parameter, such as `--course`
 */
export async function assertSeveralTaken(
  { io: { signal }, session }: Pick<Context, 'io' | 'session'>,
  caller: Caller,
  operation: Operation,
  query: Readonly<Record<string, unknown>>,
  flagOf: (parameter: string) => string,
): Promise<void> {
  const several = Object.entries(operation.filters ?? {}).flatMap(([name, filter]) => {
    const isList = filter.by === 'reference' && filter.several
    return isList && splitReferences(String(query[name] ?? '')).length > 1 ? [name] : []
  })
  const target = session.target()
  if (several.length === 0 || target.kind === 'local') return
  const document = await publishedApi(caller, signal)
  const lists = listParameters(document, operation)
  const refused = several.find((name) => !lists.includes(name))
  if (refused === undefined) return
  const flag = flagOf(refused)
  throw new CommandError(
    'not_offered',
    'failure',
    `${platformName(target)} does not support several ${flag} values`,
    {
      why: [
        document
          ? `Its OpenAPI document does not declare ${refused} as a list`
          : 'It publishes no OpenAPI document that declares them',
      ],
      hint: `Run the command once for each ${flag.replace('--', '')}`,
    },
  )
}

/** The parameters that a platform's own description of an operation calls lists. */
export function listParameters(document: JsonObject | null, operation: Operation): unknown[] {
  const parameters = publishedOperation(document, operation)?.['parameters']
  if (!Array.isArray(parameters)) return []
  return parameters
    .filter((parameter) => valueAt(parameter, 'schema.type') === 'array')
    .map((parameter) => valueAt(parameter, 'name'))
}
