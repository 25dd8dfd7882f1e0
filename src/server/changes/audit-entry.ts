import { hash, randomFillSync } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import sql, { bulk } from 'sql-template-tag'
import type { Action } from '../../contract/actions.ts'
import { firstHash, type Linked, linkText, originText } from '../../contract/audit-chain.ts'
import type { Cell, Database, Row, Store, Transaction } from '../database/database.ts'
import { timeOfId } from '../database/id.ts'
import type { AuditLink, Writing } from './writing.ts'

interface RecordedAction {
  readonly action: Action
  /** Id of the subject; null if it has none. */
  readonly id: string | null
  readonly before: object | null
  readonly after: object | null
  readonly fields?: readonly string[]
}

const maxUserAgentLength = 512

/**
 * Appends an entry in the transaction of its change. With a single writer it is linked to the previous entry at once; with
 * many writers (PostgreSQL), which would wait for each other, `linkEntries` links it later.
 */
export async function appendEntry(
  { database, newId, principal, origin, change, batch }: Omit<Writing, 'now'>,
  { action, id: subjectId, before, after, fields }: RecordedAction,
): Promise<void> {
  const [originSalt, detailsSalt] = newSalts()
  const id = newId('aud')
  const record = after ?? before
  const userAgent = origin.userAgent?.slice(0, maxUserAgentLength) ?? null
  const from = originText({ originSalt, address: origin.address, userAgent })
  // Equals `detailsText`, without serializing `kept` twice.
  const kept = keptOf(before, after, fields)
  const named = JSON.stringify([detailsSalt, origin.requestId, nameOf(record)])
  const ofChange = change ? `,${JSON.stringify(change.id)}` : ''
  const details = `${named.slice(0, -1)},${kept.before},${kept.after}${ofChange}]`
  const entry = {
    id,
    at: timeOfId(id),
    userId: principal.userId,
    credential: principal.credential,
    action,
    subjectId,
    aboutId: userIn(record),
    originDigest: sha256(from),
    detailsDigest: sha256(details),
  }
  const link = database.dialect.hasManyWriters
    ? newUnlinkedPlace()
    : linkAfter(batch?.link ?? (await lastLink(database)), entry)
  if (batch && link.hash !== null) batch.link = { place: link.place, hash: link.hash }
  const row = [
    ...[link.place, id, entry.userId, entry.credential, action, subjectId, entry.aboutId, from],
    ...[entry.originDigest, details, entry.detailsDigest, link.hash, change?.id ?? null],
  ]
  if (batch) batch.entries.push(row)
  else storeEntries(database, [row])
}

const atOnce = 50

/** Inserts rows of the audit log, each in the order of its columns below. */
export function storeEntries(database: Pick<Transaction, 'queue'>, rows: readonly (readonly Cell[])[]): void {
  for (let from = 0; from < rows.length; from += atOnce) {
    database.queue(sql`
      insert into audit_entries (place, id, user_id, credential, action, subject_id, about_id, origin, origin_digest,
                                 details, details_digest, hash, change_id)
      values ${bulk(rows.slice(from, from + atOnce).map((row) => [...row]))}`)
  }
}

export async function lastLink(database: Database): Promise<AuditLink> {
  const last = await database.one<Row & { place: number; hash: string }>(
    sql`select place, hash from audit_entries where place > 0 order by place desc limit 1`,
  )
  return last ?? { place: 0, hash: firstHash }
}

function linkAfter(last: AuditLink, entry: Omit<Linked, 'place'>): AuditLink {
  const place = last.place + 1
  return { place, hash: sha256(linkText(last.hash, { ...entry, place })) }
}

/** Returns a random negative place for an entry that is not linked yet. */
function newUnlinkedPlace() {
  return { place: -1 - Math.floor(Math.random() * (Number.MAX_SAFE_INTEGER - 1)), hash: null }
}

type Shown = Readonly<Record<string, unknown>>

interface KeptChange {
  readonly before: string
  readonly after: string
}

/** Maximum characters of a field's JSON; longer ones are replaced by a digest. */
const maxFieldLength = 4096
/** Fields left out of updates: the entry has its own time. */
const omittedFields: ReadonlySet<string> = new Set(['updatedAt'])
const secrets = ['password', 'key', 'clientSecret', 'accessToken', 'webhookSecrets', 'secret'] as const
const masked = '***'

/**
 * Returns the recorded part of a change: the fields that differ of an update, else the whole record; long values as a
 * digest, secrets masked.
 *
 * @param fields fields that differ, if known
 */
function keptOf(before: object | null, after: object | null, fields?: readonly string[]): KeptChange {
  const [from, to] = [before as Shown | null, after as Shown | null]
  if (!from || !to) return { before: textOf(from), after: textOf(to) }
  const changed = fields ?? Object.keys(to).filter((field) => isDifferent(from[field], to[field]))
  const kept = changed.filter((field) => !omittedFields.has(field))
  return { before: textOf(pick(from, kept)), after: textOf(pick(to, kept)) }
}

/** Identity first, which is fast. */
export function isDifferent(one: unknown, other: unknown): boolean {
  return one !== other && !isDeepStrictEqual(one, other)
}

function pick(record: Shown, fields: readonly string[]): Shown {
  return Object.fromEntries(fields.map((field) => [field, record[field] ?? null]))
}

function textOf(record: Shown | null): string {
  if (!record) return 'null'
  const open = secrets.some((field) => record[field] != null) ? withoutSecrets(record) : record
  const text = JSON.stringify(open)
  // Nearly all records are short as a whole.
  if (text.length <= maxFieldLength) return text
  return JSON.stringify(
    Object.fromEntries(Object.entries(open).map(([field, value]) => [field, shorten(value)])),
  )
}

function withoutSecrets(record: Shown): Shown {
  const hidden = secrets.filter((field) => record[field] != null).map((field) => [field, masked])
  return { ...record, ...Object.fromEntries(hidden) }
}

function shorten(value: unknown): unknown {
  const text = JSON.stringify(value) ?? 'null'
  if (text.length <= maxFieldLength) return value
  return { omitted: true, bytes: Buffer.byteLength(text), sha256: sha256(text) }
}

function nameOf(record: object | null): string | null {
  const { title, courseTitle, groupName, userEmail, email, name, url, lmsKind, operation } = (record ??
    {}) as Shown
  const text = title ?? email ?? name ?? url ?? operation
  if (typeof text === 'string') return text
  const both = [groupName ?? courseTitle, userEmail].filter((one) => typeof one === 'string')
  if (both.length > 0) return both.join(' · ')
  return typeof lmsKind === 'string' ? lmsKind : null
}

function userIn(record: object | null): string | null {
  const { userId, learnerId } = (record ?? {}) as Shown
  const found = userId ?? learnerId
  return typeof found === 'string' ? found : null
}

export function sha256(text: string): string {
  return hash('sha256', text, 'hex')
}

const saltBytes = 12
/** Random bytes for many salts: one call costs more than the bytes. */
const drawn = Buffer.alloc(256 * saltBytes)
let used = drawn.length

/** Returns two salts of 96 bits. Without a salt, short erased text could be guessed from its digest. */
function newSalts(): readonly [string, string] {
  return [newSalt(), newSalt()]
}

function newSalt(): string {
  if (used === drawn.length) {
    randomFillSync(drawn)
    used = 0
  }
  used += saltBytes
  // Hex, which no spreadsheet takes for a formula.
  return drawn.toString('hex', used - saltBytes, used)
}

/** Entries per transaction, about ten milliseconds' worth. */
const batchSize = 500

interface UnlinkedRow extends Row {
  readonly place: number
  readonly id: string
  readonly user_id: string | null
  readonly credential: string | null
  readonly action: string
  readonly subject_id: string | null
  readonly about_id: string | null
  readonly origin_digest: string
  readonly details_digest: string
}

/**
 * Links entries that were appended without a place, in the order of their ids, to the last linked one. Returns true if more
 * are left. Of two servers that do so at the same time, one retries.
 */
export async function linkEntries(database: Transaction, limit = batchSize): Promise<boolean> {
  const waiting = await database.all<UnlinkedRow>(sql`
    select place, id, user_id, credential, action, subject_id, about_id, origin_digest, details_digest from audit_entries
    where place < 0 order by place limit ${limit}`)
  if (waiting.length === 0) return false
  const last = await lastLink(database)
  let { place, hash } = last
  for (const row of waiting.toSorted((one, other) => (one.id < other.id ? -1 : 1))) {
    place += 1
    hash = sha256(linkText(hash, linkedOf(row, place)))
    database.queue(sql`update audit_entries set place = ${place}, hash = ${hash} where place = ${row.place}`)
  }
  return waiting.length === limit
}

export async function linkAll(database: Pick<Store, 'write'>): Promise<void> {
  while (await database.write((transaction) => linkEntries(transaction)));
}

function linkedOf(row: UnlinkedRow, place: number): Linked {
  return {
    place,
    id: row.id,
    at: timeOfId(row.id),
    userId: row.user_id,
    credential: row.credential,
    action: row.action as Action,
    subjectId: row.subject_id,
    aboutId: row.about_id,
    originDigest: row.origin_digest,
    detailsDigest: row.details_digest,
  }
}

/** Details of entries about the user, and origins of entries by them. The digests that link them stay. */
export async function eraseFromAudit(database: Transaction, userId: string): Promise<void> {
  for (const column of [sql`subject_id`, sql`about_id`]) {
    await database.run(sql`update audit_entries set details = null where ${column} = ${userId}`)
  }
  await database.run(sql`update audit_entries set origin = null where user_id = ${userId}`)
  // Failed sign-ins as this user were mostly theirs.
  await database.run(
    sql`update audit_entries set origin = null where subject_id = ${userId} and user_id is null`,
  )
  // Link them before the erasure's own entry: `audit verify` accepts erased entries only if the erasure comes later.
  if (database.dialect.hasManyWriters) while (await linkEntries(database));
}
