import type { Operation } from '../../contract/operation.ts'
import { appendEntry } from '../audit/append.ts'
import type { Actor } from '../audit/entry.ts'
import { mayRecord } from './refusal-bounds.ts'
import { type AppOptions, originOf, type RateLimits, type RequestContext } from './request-context.ts'

/** Whose credential it was; nobody, where none was right. */
export const nobody: Actor = { userId: null, credential: null }

/** What was refused, to whom. */
interface Refused {
  readonly action: 'request.refused' | 'session.refused'
  readonly actor: Actor
  /** The user whom it was about; null where that is nobody. */
  readonly subjectId: string | null
  readonly details: Readonly<Record<string, unknown>>
}

/** Tells the audit log of a refusal, within bounds. What was refused stays so, whatever becomes of that. */
export async function recordRefusal(
  { database, newId }: Pick<AppOptions, 'database' | 'newId'>,
  limits: Pick<RateLimits, 'refusals'>,
  context: RequestContext,
  { action, actor, subjectId, details }: Refused,
): Promise<void> {
  if (!mayRecord(limits, actor.credential ?? context.address)) return
  const { refusals } = limits
  const { unrecorded } = refusals
  refusals.unrecorded = 0
  const after = { ...details, ...(unrecorded > 0 && { unrecorded }) }
  try {
    await database.write((transaction) =>
      appendEntry(
        { database: transaction, newId, principal: actor, origin: originOf(context) },
        { action, id: subjectId, before: null, after },
      ),
    )
  } catch {
    refusals.unrecorded += unrecorded + 1
  }
}

/** Tells of a request to an operation that was refused with this code. */
export async function recordRefusedRequest(
  app: AppOptions,
  limits: RateLimits,
  context: RequestContext,
  operation: Operation,
  code: string,
  principal: Actor | undefined,
): Promise<void> {
  await recordRefusal(app, limits, context, {
    action: 'request.refused',
    actor: principal ?? nobody,
    subjectId: null,
    details: { operation: operation.id, code },
  })
}
