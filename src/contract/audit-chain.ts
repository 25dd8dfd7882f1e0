import { jsonText } from '../codec/json-text.ts'
import type { AuditEntry } from './audit.ts'

/** Hashed together with the hash of the entry before. */
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

export const firstHash = '0'.repeat(64)

export function linkText(previous: string, entry: Linked): string {
  const { place, id, at, userId, credential, action, subjectId, aboutId, originDigest, detailsDigest } = entry
  return jsonText([
    ...[previous, place, id, at, userId, credential, action, subjectId, aboutId],
    ...[originDigest, detailsDigest],
  ])
}

/** For an entry before `audit_log.upgraded`: earlier versions did not hash `aboutId`. */
export function formerLinkText(previous: string, entry: Linked): string {
  const { place, id, at, userId, credential, action, subjectId, originDigest, detailsDigest } = entry
  return jsonText([
    ...[previous, place, id, at, userId, credential, action, subjectId],
    ...[originDigest, detailsDigest],
  ])
}

/** Value `after` of the entry `audit_log.upgraded`: number of the entries before it, and digest of their `aboutLine`s. */
export interface FormerEntries {
  readonly entries: number
  readonly digest: string
}

/** For an earlier entry: the digest in `audit_log.upgraded` protects its `aboutId`. */
export function aboutLine({ place, id, aboutId }: Pick<Linked, 'place' | 'id' | 'aboutId'>): string {
  return `${jsonText([place, id, aboutId])}\n`
}

export function originText({
  originSalt,
  address,
  userAgent,
}: Pick<AuditEntry, 'originSalt' | 'address' | 'userAgent'>): string {
  return jsonText([originSalt, address, userAgent])
}

export function detailsText({
  detailsSalt,
  requestId,
  subjectName,
  before,
  after,
  changeId,
}: Pick<AuditEntry, 'detailsSalt' | 'requestId' | 'subjectName' | 'before' | 'after'> & {
  // Servers of earlier versions do not show it.
  readonly changeId?: AuditEntry['changeId'] | undefined
}): string {
  const own = changeId == null ? [] : [changeId]
  return jsonText([detailsSalt, requestId, subjectName, before, after, ...own])
}
