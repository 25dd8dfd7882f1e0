import sql, { type Sql } from 'sql-template-tag'
import { fingerprint, hmacKeyOf } from '../access/secret.ts'
import type { Database, Row } from '../database/database.ts'
import { ProblemError } from '../problem/problem-error.ts'
import type { Reply } from './reply.ts'

const keptMs = 24 * 60 * 60 * 1000
const neverKept: readonly number[] = [401, 403, 429]

/** Which earlier request a POST may be the repetition of (draft-ietf-httpapi-idempotency-key-header-06 §2). */
export interface IdempotentRequest {
  readonly userId: string
  readonly method: string
  readonly path: string
  readonly key: string
  readonly bytes: Uint8Array
  readonly now: Date
}

interface RecordRow extends Row {
  fingerprint: string
  status: number
  headers: string
  body: string | null
}

/** The key in an Idempotency-Key header, quoted (RFC 9651 string) or bare; throws 400 for anything else. */
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
 * Answers a repeated request as the first time, or does the work and keeps its answer, all inside the caller's
 * transaction. Throws 422 `idempotency_mismatch` when the key came with another body before.
 *
 * @param keep the answer as it may be kept: without secrets
 */
export async function once(
  database: Database,
  request: IdempotentRequest,
  work: () => Promise<Reply>,
  keep: (reply: Reply) => Reply,
): Promise<Reply> {
  const { userId, method, path, key, bytes, now } = request
  const print = await fingerprintOf(database, bytes)
  // The row before the work: of two transactions with one key, one has nothing done that would have to be undone.
  const claimed = await database.run(sql`
    insert into idempotency (user_id, method, path, key, fingerprint, status, headers, body, created_at)
    values (${userId}, ${method}, ${path}, ${key}, ${print}, 0, '', null, ${now.toISOString()})
    on conflict (user_id, method, path, key) do update set
      fingerprint = excluded.fingerprint, status = 0, headers = '', body = null, created_at = excluded.created_at
    where idempotency.created_at < ${oldestKept(now)}`)
  const kept = claimed === 0 ? await keptAnswer(database, request) : undefined
  if (kept) return replay(kept, print)
  const reply = await work()
  if (reply.status >= 500 || neverKept.includes(reply.status)) {
    await database.run(sql`delete from idempotency where ${isOf(request)}`)
    return reply
  }
  const { status, headers, body } = keep(reply)
  await database.run(sql`
    update idempotency set
      status = ${status}, headers = ${JSON.stringify(headers)}, body = ${typeof body === 'string' ? body : null}
    where ${isOf(request)}`)
  return reply
}

/**
 * The answer that a request got before, undefined where it is the first: for those whose work begins before the
 * transaction does. Throws 422 `idempotency_mismatch`.
 */
export async function answeredBefore(
  database: Database,
  request: IdempotentRequest,
): Promise<Reply | undefined> {
  const kept = await keptAnswer(database, request)
  return kept && replay(kept, await fingerprintOf(database, request.bytes))
}

function keptAnswer(database: Database, request: IdempotentRequest): Promise<RecordRow | undefined> {
  return database.one<RecordRow>(sql`
    select fingerprint, status, headers, body from idempotency
    where ${isOf(request)} and created_at >= ${oldestKept(request.now)}`)
}

function isOf({ userId, method, path, key }: IdempotentRequest): Sql {
  return sql`user_id = ${userId} and method = ${method} and path = ${path} and key = ${key}`
}

function oldestKept(now: Date): string {
  return new Date(now.getTime() - keptMs).toISOString()
}

async function fingerprintOf(database: Database, bytes: Uint8Array): Promise<string> {
  return fingerprint(await hmacKeyOf(database), bytes)
}

function replay(kept: RecordRow, print: string): Reply {
  if (kept.fingerprint !== print) {
    throw new ProblemError(
      'idempotency_mismatch',
      'This Idempotency-Key was already used with a different body.',
    )
  }
  const headers = JSON.parse(kept.headers) as Record<string, string>
  return { status: kept.status, headers: { ...headers, 'idempotent-replayed': 'true' }, body: kept.body }
}
