import { jsonText } from '../codec/json-text.ts'
import type { AuditEntry } from './audit.ts'

/** What is hashed of an entry, besides the hash of the entry before. */
export type Linked = Pick<
  AuditEntry,
  | 'id'
  | 'at'
  | 'userId'
  | 'credential'
  | 'action'
  | 'subjectId'
  | 'aboutId'
  | 'originDigest'
  | 'detailsDigest'
> & { readonly place: number }

/** The hash before the first entry. */
export const firstHash = '0'.repeat(64)

/** The text of which the hash of an entry is made, with the hash of the entry before. */
export function linkText(previous: string, entry: Linked): string {
  const { place, id, at, userId, credential, action, subjectId, aboutId, originDigest, detailsDigest } = entry
  return jsonText([
    ...[previous, place, id, at, userId, credential, action, subjectId, aboutId],
    ...[originDigest, detailsDigest],
  ])
}

/** The same for an entry before `audit_log.upgraded`: an earlier version did not link whom an entry is about. */
export function formerLinkText(previous: string, entry: Linked): string {
  const { place, id, at, userId, credential, action, subjectId, originDigest, detailsDigest } = entry
  return jsonText([
    ...[previous, place, id, at, userId, credential, action, subjectId],
    ...[originDigest, detailsDigest],
  ])
}

/** What the entry `audit_log.upgraded` says of those before it, in `after`; `digest` is that of all their `aboutLine`. */
export interface FormerEntries {
  readonly entries: number
  readonly digest: string
}

/** Whom one entry is about, as `audit_log.upgraded` makes it sure. */
export function aboutLine({ place, id, aboutId }: Pick<Linked, 'place' | 'id' | 'aboutId'>): string {
  return `${jsonText([place, id, aboutId])}\n`
}

/** The text of which the digest of the origin is made. */
export function originText({
  originSalt,
  address,
  userAgent,
}: Pick<AuditEntry, 'originSalt' | 'address' | 'userAgent'>): string {
  return jsonText([originSalt, address, userAgent])
}

/** The text of which the digest of the details is made. */
export function detailsText({
  detailsSalt,
  requestId,
  subjectName,
  before,
  after,
}: Pick<AuditEntry, 'detailsSalt' | 'requestId' | 'subjectName' | 'before' | 'after'>): string {
  return jsonText([detailsSalt, requestId, subjectName, before, after])
}
