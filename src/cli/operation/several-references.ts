import type { Caller } from '../../client/caller.ts'
import { listParameters, publishedApi } from '../../client/published-api.ts'
import { splitReferences } from '../../codec/reference.ts'
import { platformName } from '../../config/target.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Context } from '../command/context.ts'
import { CommandError } from '../terminal/errors.ts'

/**
 * Allows several references only if the OpenAPI document of a remote platform declares the parameter as a list:
 * otherwise it could send rows of another course, of none or of all. Throws a CommandError.
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
