import sql, { join, type Sql } from 'sql-template-tag'
import type { Operation } from '../../contract/operation.ts'
import { fingerprint } from '../access/secret.ts'
import type { Database, Row, Store, Transaction } from '../database/database.ts'
import { contains } from '../database/search.ts'
import { ProblemError } from '../problem-error.ts'
import type { Call } from './handler.ts'
import { problemReply, type Reply } from './reply.ts'
import type { RequestContext } from './request-context.ts'

const retentionMs = 24 * 60 * 60 * 1000
/** They depend on the credential or the time, not on the request. */
const unstoredStatuses: readonly number[] = [401, 403, 429]

/** A POST (draft-ietf-httpapi-idempotency-key-header-06 §2). */
export interface IdempotentRequest {
  readonly userId: string
  readonly method: string
  readonly path: string
  readonly key: string
  readonly bytes: Uint8Array
  readonly now: Date
}

interface RecordRow extends Row {
  /** Null, like the other columns, if nothing is stored. */
  fingerprint: string | null
  status: number
  headers: string
  body: string | null
}

/**
 * Reads the key in an Idempotency-Key header, quoted (RFC 9651 string) or bare; throws 400 for anything else.
 */
export function readIdempotencyKey(header: string): string {
  const [, quoted, bare] =
    /^\s*(?:"([\x20\x21\x23-\x5b\x5d-\x7e]{1,255})"|([A-Za-z0-9_.:-]{1,255}))\s*$/.exec(header) ?? []
  const key = quoted ?? bare
  if (key) return key
  const detail = 'must be 1 to 255 printable characters in double quotes'
  throw new ProblemError('invalid_parameter', `The header Idempotency-Key ${detail}.`, {
    errors: [{ parameter: 'Idempotency-Key', code: 'invalid_parameter', detail }],
  })
}

/**
 * Repeats the response to a repeated request, or does the work and stores its response, in the caller's
 * transaction. Throws 422 `idempotency_mismatch` if the key was used with another body.
 *
 * @param work errors roll the transaction back
 * @param toStored removes secrets from the stored response
 */
export async function runOnce(
  database: Database,
  request: IdempotentRequest,
  work: () => Promise<Reply>,
  toStored: (reply: Reply) => Reply,
): Promise<Reply> {
  const { print, stored } = await findStored(database, request)
  if (stored) return replay(stored, print)
  // With several writers, concurrent requests with one key wait here for the one that has the claim.
  const claims = database.dialect.hasManyWriters
  if (claims && (await insertReply(database, request, print, claim)) === 0) {
    const twin = await findStored(database, request)
    if (twin.stored) return replay(twin.stored, print)
  }
  const reply = await work()
  if (reply.status < 500 && !unstoredStatuses.includes(reply.status)) {
    const storable = toStored(reply)
    await (claims
      ? updateReply(database, request, storable)
      : insertReply(database, request, print, storable))
  } else if (claims) await database.run(sql`delete from idempotency where ${isOf(request)}`)
  return reply
}

/** Placeholder until the response is stored. */
const claim: Reply = { status: 0, headers: {}, body: null }

/** Replaces an expired one; returns the number of rows, 0 if one exists. */
function insertReply(
  database: Database,
  { userId, method, path, key, now }: IdempotentRequest,
  print: string,
  reply: Reply,
): Promise<number> {
  const { status, headers, body } = cellsOf(reply)
  return database.run(sql`
    insert into idempotency (user_id, method, path, key, fingerprint, status, headers, body, created_at)
    values (${userId}, ${method}, ${path}, ${key}, ${print}, ${status}, ${headers}, ${body}, ${now.toISOString()})
    on conflict (user_id, method, path, key) do update set
      fingerprint = excluded.fingerprint, status = excluded.status, headers = excluded.headers,
      body = excluded.body, created_at = excluded.created_at
    where idempotency.created_at < ${oldestValidTime(now)}`)
}

function updateReply(database: Database, request: IdempotentRequest, reply: Reply): Promise<number> {
  const { status, headers, body } = cellsOf(reply)
  return database.run(sql`
    update idempotency set status = ${status}, headers = ${headers}, body = ${body} where ${isOf(request)}`)
}

function cellsOf({ status, headers, body }: Reply) {
  return { status, headers: JSON.stringify(headers), body: typeof body === 'string' ? body : null }
}

/**
 * Returns the stored response of a repeated request, else undefined; for work that starts before the
 * transaction. Throws 422 `idempotency_mismatch`.
 */
export async function findStoredReply(
  database: Database,
  request: IdempotentRequest,
): Promise<Reply | undefined> {
  const { print, stored } = await findStored(database, request)
  return stored && replay(stored, print)
}

async function findStored(
  database: Database,
  request: IdempotentRequest,
): Promise<{ readonly print: string; readonly stored: RecordRow | undefined }> {
  const row = await database.one<RecordRow & { secret: string }>(sql`
    select s.value as secret, i.fingerprint, i.status, i.headers, i.body
    from settings s left join idempotency i on ${isOf(request)} and i.created_at >= ${oldestValidTime(request.now)}
    where s.name = 'hmac_key'`)
  const stored = row?.fingerprint === null ? undefined : row
  return { print: fingerprint(row?.secret ?? '', request.bytes), stored }
}

function isOf({ userId, method, path, key }: IdempotentRequest): Sql {
  return sql`user_id = ${userId} and method = ${method} and path = ${path} and key = ${key}`
}

function oldestValidTime(now: Date): string {
  return new Date(now.getTime() - retentionMs).toISOString()
}

function replay(stored: RecordRow, print: string): Reply {
  if (stored.fingerprint !== print) {
    throw new ProblemError(
      'idempotency_mismatch',
      'This Idempotency-Key was already used with a different body.',
    )
  }
  const headers = JSON.parse(stored.headers) as Record<string, string>
  return { status: stored.status, headers: { ...headers, 'idempotent-replayed': 'true' }, body: stored.body }
}

/**
 * Does the work of a repeatable request once, in a transaction, and repeats the same reply. An error's reply
 * is stored too, in a second transaction after the rollback.
 *
 * @param allowedIn returns the call in a transaction; throws if the caller has lost access
 */
export async function writeOnce(
  database: Store,
  context: RequestContext,
  operation: Operation,
  request: IdempotentRequest,
  allowedIn: (transaction: Transaction) => Promise<Call>,
  work: (call: Call) => Promise<Reply>,
): Promise<Reply> {
  const toStored = (reply: Reply) => removeSecret(operation, reply)
  try {
    return await database.write(async (transaction) => {
      const call = await allowedIn(transaction)
      return runOnce(transaction, request, () => work(call).catch(refuse), toStored)
    })
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    const refusal = problemReply(error.fault, context)
    return database.write((transaction) => runOnce(transaction, request, async () => refusal, toStored))
  }
}

/** Errors of the caller or the key are not stored. */
class Refused extends Error {
  override readonly name = 'Refused'
  readonly fault: ProblemError

  constructor(fault: ProblemError) {
    super(fault.message, { cause: fault })
    this.fault = fault
  }
}

function refuse(error: unknown): never {
  throw error instanceof ProblemError ? new Refused(error) : error
}

function removeSecret({ secret }: Operation, reply: Reply): Reply {
  if (!secret || typeof reply.body !== 'string' || reply.status >= 400) return reply
  return { ...reply, body: JSON.stringify({ ...(JSON.parse(reply.body) as object), [secret]: null }) }
}

export async function deleteResponses(
  database: Database,
  texts: readonly string[],
  also: Sql = sql`false`,
): Promise<void> {
  const named = texts.map((text) => contains(sql`text`, text.toLowerCase()))
  const folded = database.dialect.folded(sql`coalesce(body, '') || key`)
  // This scans all stored responses. The limit makes SQLite lower-case each once, not once per text.
  await database.run(sql`
    delete from idempotency where (user_id, method, path, key) in (
      select user_id, method, path, key
      from (select *, ${folded} as text from idempotency limit ${Number.MAX_SAFE_INTEGER}) stored
      where ${also} or ${join(named, ' or ')})`)
}
