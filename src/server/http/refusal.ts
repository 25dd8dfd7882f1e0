import { shownCredential } from '../access/shown-credential.ts'
import { appendEntry } from '../audit/append.ts'
import type { Actor } from '../audit/entry.ts'
import { mayRecord } from './refusal-bounds.ts'
import { type AppOptions, originOf, type RateLimits, type RequestContext } from './request-context.ts'

const nobody: Actor = { userId: null, credential: null }

/** What was refused, to whom. */
export interface Refused {
  readonly action: 'request.refused' | 'session.refused'
  /** Absent for who showed no credential that counts: the audit log is told which one it was, where that is known. */
  readonly actor?: Actor | undefined
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
  const may = actor
    ? mayRecord(limits, 'known', actor.userId ?? String(actor.credential))
    : mayRecord(limits, 'anonymous', context.address)
  if (!may) return
  const { refusals } = limits
  const { unrecorded } = refusals
  refusals.unrecorded = 0
  const after = { ...details, ...(unrecorded > 0 && { unrecorded }) }
  try {
    const shown = () => shownCredential(database, context.raw.headers['authorization'] ?? null)
    const principal = actor ?? (await shown()) ?? nobody
    await database.write((transaction) =>
      appendEntry(
        { database: transaction, newId, principal, origin: originOf(context) },
        { action, id: subjectId, before: null, after },
      ),
    )
  } catch {
    refusals.unrecorded += unrecorded + 1
  }
}

/** Tells of a request to an operation, or to what is called so, that was refused with this code. */
export async function recordRefusedRequest(
  app: AppOptions,
  limits: RateLimits,
  context: RequestContext,
  operation: string,
  code: string,
  principal: Actor | undefined,
): Promise<void> {
  await recordRefusal(app, limits, context, {
    action: 'request.refused',
    actor: principal,
    subjectId: null,
    details: { operation, code },
  })
}
