import sql from 'sql-template-tag'
import { isCredential } from '../../codec/credential-text.ts'
import { digest } from '../access/secret.ts'
import { appendEntry } from '../changes/audit-entry.ts'
import type { Actor } from '../changes/writing.ts'
import type { Database, Row } from '../database/database.ts'
import { mayRecordRefusal, type RateLimits } from './limits.ts'
import { type AppOptions, originOf, type RequestContext } from './request-context.ts'

const anonymous: Actor = { userId: null, credential: null }

export interface Refused {
  readonly action: 'request.refused' | 'session.refused'
  /** Absent without a valid credential; the audit log then records an expired or revoked one, if it is known. */
  readonly actor?: Actor | undefined
  /** Null unless the request was about a user. */
  readonly subjectId: string | null
  readonly details: Readonly<Record<string, unknown>>
}

/** Records a refusal in the audit log, within limits. An error of that does not change the response. */
export async function recordRefusal(
  { database, newId }: Pick<AppOptions, 'database' | 'newId'>,
  limits: Pick<RateLimits, 'refusals'>,
  context: RequestContext,
  { action, actor, subjectId, details }: Refused,
): Promise<void> {
  const may = actor
    ? mayRecordRefusal(limits, 'known', actor.userId ?? String(actor.credential))
    : mayRecordRefusal(limits, 'anonymous', context.address)
  if (!may) return
  const { refusals } = limits
  const { unrecorded } = refusals
  refusals.unrecorded = 0
  const after = { ...details, ...(unrecorded > 0 && { unrecorded }) }
  try {
    const shown = () => shownCredential(database, context.raw.headers['authorization'] ?? null)
    const principal = actor ?? (await shown()) ?? anonymous
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

interface ShownCredential {
  readonly userId: string
  readonly credential: string
}

/**
 * Returns the key, or the grant of the token, in an Authorization header, even if it has expired or was
 * revoked; undefined if it is unknown.
 */
async function shownCredential(
  database: Database,
  authorization: string | null,
): Promise<ShownCredential | undefined> {
  const [, token = ''] = /^Bearer +(\S+)$/i.exec(authorization ?? '') ?? []
  const isKey = isCredential('apiKey', token)
  if (!isKey && !isCredential('accessToken', token)) return undefined
  const hash = digest(token)
  const row = await database.one<Row & { id: string; user_id: string }>(
    isKey
      ? sql`select id, user_id from api_keys where hash = ${hash}`
      : sql`select g.id, g.user_id from access_tokens t join grants g on g.id = t.grant_id where t.hash = ${hash}`,
  )
  return row && { userId: row.user_id, credential: row.id }
}
