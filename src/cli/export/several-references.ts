import type { Caller } from '../../client/caller.ts'
import { splitReferences } from '../../codec/reference-list.ts'
import { platformName } from '../../config/target.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Context } from '../command/context.ts'
import { valueAt } from '../output/columns.ts'
import { CommandError } from '../terminal/errors.ts'

/**
 * A platform elsewhere may understand one reference alone, and would send the rows of another course, of none or of
 * all: several are sent only where its OpenAPI document says that the parameter is a list. Throws a CommandError
 * otherwise.
 *
 * @param named the parameters that may hold several references, each with the name of its flag
 */
export async function assertSeveralTaken(
  { io: { signal }, session }: Context,
  caller: Caller,
  operation: Operation,
  query: Readonly<Record<string, unknown>>,
  named: Readonly<Record<string, string>>,
): Promise<void> {
  const target = session.target()
  const several = Object.keys(named).filter((name) => splitReferences(String(query[name] ?? '')).length > 1)
  if (several.length === 0 || target.kind === 'local') return
  const lists = await listParameters(caller, operation, signal)
  const refused = several.find((name) => !lists.includes(name))
  if (refused === undefined) return
  const flag = named[refused]
  throw new CommandError(
    'not_offered',
    'failure',
    `${platformName(target)} does not support several --${flag} values`,
    {
      why: [`Its OpenAPI document does not declare ${refused} as a list`],
      hint: `Run the command once for each ${flag}`,
    },
  )
}

/** The parameters that the platform's own description of the operation calls lists. */
async function listParameters(caller: Caller, operation: Operation, signal: AbortSignal): Promise<unknown[]> {
  const [{ calls }, errors] = await Promise.all([
    import('../../contract/calls.ts'),
    import('../../client/errors.ts'),
  ])
  const undescribed = [errors.ApiError, errors.NotOfferedError, errors.ProtocolError]
  try {
    const { data } = await caller.call(calls.service.openapi, { signal })
    const path = valueAt(data['paths'], operation.path)
    const parameters = valueAt(path, `${operation.method.toLowerCase()}.parameters`)
    if (!Array.isArray(parameters)) return []
    return parameters
      .filter((parameter) => valueAt(parameter, 'schema.type') === 'array')
      .map((parameter) => valueAt(parameter, 'name'))
  } catch (error) {
    if (undescribed.some((kind) => error instanceof kind)) return []
    throw error
  }
}
