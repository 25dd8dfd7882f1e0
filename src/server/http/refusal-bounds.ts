import { createRateLimit, type RateLimit } from './rate-limit.ts'

/** Limits how many refusals the audit log records, and counts the others. */
export interface RefusalBounds {
  /** By user, or by network. */
  readonly each: RateLimit
  /** By group. */
  readonly all: RateLimit
  unrecorded: number
}

/**
 * Groups that are limited together, so that neither anonymous clients nor programs that refresh tokens
 * prevent recording what a known credential tried.
 */
export type RefusalGroup = 'anonymous' | 'known' | 'refresh'

/**
 * Maximum entries a minute, by user or network and by group: repeated attempts are recorded without filling
 * the disk.
 */
const perMinute = { each: 10, all: 60 } as const

/** Error codes that the audit log records: an invalid or insufficient credential. */
const recordedCodes: ReadonlySet<string> = new Set([
  'invalid_token',
  'token_expired',
  'expired_key',
  'insufficient_scope',
  'forbidden',
])

/** Creates the limits of an app. */
export function refusalBounds(now: () => Date): RefusalBounds {
  return {
    each: createRateLimit(perMinute.each, now),
    all: createRateLimit(perMinute.all, now),
    unrecorded: 0,
  }
}

/** True if the audit log may record one more refusal of this user or network. */
export function mayRecord(
  { refusals }: { readonly refusals: RefusalBounds },
  crowd: RefusalGroup,
  name: string,
): boolean {
  const may = refusals.each.take(`${crowd} ${name}`).allowed && refusals.all.take(crowd).allowed
  if (!may && crowd !== 'refresh') refusals.unrecorded += 1
  return may
}

/** True for an error code that the audit log records. */
export function isRecorded(code: string | undefined): code is string {
  return code !== undefined && recordedCodes.has(code)
}
