import { platformName } from '../../config/target.ts'
import type { Context } from '../command/context.ts'
import { publishedApi, publishes } from '../operation/published-api.ts'
import { CommandError } from '../terminal/errors.ts'
import type { Part } from './entry.ts'
import { loadPart } from './load-part.ts'
import type { Action, Plan } from './plan.ts'
import type { Reader } from './reader.ts'

/**
 * The datasets that a platform takes many records of in one request. Throws a CommandError, before anything is sent, where
 * its OpenAPI document lacks an operation that the plan needs.
 */
export async function requireOffered(
  { session }: Context,
  reader: Reader,
  { actions }: Plan,
): Promise<ReadonlySet<Part>> {
  const needed = [...new Set(actions.map(({ dataset, kind }) => `${dataset} ${kind}`))]
  const local = session.target().kind === 'local'
  const document = local || needed.length === 0 ? null : await publishedApi(reader.caller, reader.signal)
  const batched = new Set<Part>()
  const lacking: string[] = []
  for (const each of needed) {
    const [name, kind] = each.split(' ') as [Part, Action['kind']]
    const { operations } = await loadPart(name)
    const { batch } = operations
    if (batch && (local || publishes(document, batch))) batched.add(name)
    // Progress is set, whether it is there or not.
    const operation = name === 'progress' ? operations.create : operations[kind]
    if (document !== null && operation && !publishes(document, operation)) {
      lacking.push(`${kind} ${name}: it does not support ${operation.method} ${operation.path}`)
    }
  }
  if (lacking.length === 0) return batched
  throw new CommandError(
    'not_offered',
    'failure',
    `${platformName(session.target())} cannot apply these files`,
    {
      why: [...lacking, 'Nothing was sent'],
    },
  )
}
