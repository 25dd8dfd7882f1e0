import { isOffered, publishedApi, publishes } from '../../client/published-api.ts'
import { platformName } from '../../config/target.ts'
import type { Context } from '../command/context.ts'
import { untold } from '../operation/write-notes.ts'
import { CommandError } from '../terminal/errors.ts'
import { isSet, nouns, type Part } from './entry.ts'
import { loadPart } from './load-part.ts'
import type { Plan } from './plan.ts'
import type { Reader } from './reader.ts'
import { namedCourse, understandsExternalIds } from './understood.ts'

/**
 * Returns the datasets with batch requests. Throws a CommandError, before anything is sent, if the platform lacks an
 * operation that the plan needs or cannot resolve the courses that records name; notes operations that only an
 * attempt can confirm.
 */
export async function requireOffered(
  { session, output }: Context,
  reader: Reader,
  { actions }: Plan,
): Promise<ReadonlySet<Part>> {
  const { caller, signal } = reader
  const needed = new Map(actions.map((action) => [`${action.dataset} ${action.kind}`, action]))
  const local = session.target().kind === 'local'
  const document = local || needed.size === 0 ? null : await publishedApi(caller, signal)
  const batched = new Set<Part>()
  const lacking: string[] = []
  const unknown: string[] = []
  for (const { dataset, kind, current } of needed.values()) {
    const { operations } = await loadPart(dataset)
    const { batch } = operations
    if (batch && (local || publishes(document, batch))) batched.add(dataset)
    const operation = isSet({ operations }) ? operations.create : operations[kind]
    if (local || !operation) continue
    const offered = await isOffered(caller, document, operation, operations.params(current ?? {}), signal)
    const named = `${operation.method} ${operation.path}`
    if (offered === false) lacking.push(`It cannot ${kind} ${nouns[dataset]}s: ${named} is not supported`)
    if (offered === null) unknown.push(named)
  }
  const named = local ? undefined : namedCourse(actions)
  if (named !== undefined && lacking.length === 0) {
    const understood = await understandsExternalIds(reader, document)
    if (understood === false) lacking.push(`It does not find courses by their external ids, such as ${named}`)
    if (understood === null) unknown.push(`references such as ${named}`)
  }
  if (lacking.length === 0) {
    if (unknown.length > 0) await output.note(untold(platformName(session.target()), unknown))
    return batched
  }
  throw new CommandError(
    'not_offered',
    'failure',
    `${platformName(session.target())} cannot apply these files`,
    {
      why: [...lacking, 'Nothing was sent'],
    },
  )
}
