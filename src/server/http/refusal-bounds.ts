import { type RateLimit, rateLimit } from './rate-limit.ts'

/** Bounds how many refusals the audit log gets, and counts the others. */
export interface RefusalBounds {
  /** By user, or by network. */
  readonly each: RateLimit
  /** By crowd. */
  readonly all: RateLimit
  unrecorded: number
}

/**
 * Who is counted together: nobody who is unknown, and no program that renews its tokens, keeps the log from telling what
 * somebody with a credential tried.
 */
export type Crowd = 'anonymous' | 'known' | 'refresh'

/** Entries a minute, of one and of a crowd: whoever tries and tries is told of, and fills no disk. */
const perMinute = { each: 10, all: 60 } as const

/** Codes of refusals of which the audit log tells: a credential that does not count, or not for this. */
const told: ReadonlySet<string> = new Set([
  'invalid_token',
  'token_expired',
  'expired_key',
  'insufficient_scope',
  'forbidden',
])

/** The bounds of one app. */
export function refusalBounds(now: () => Date): RefusalBounds {
  return { each: rateLimit(perMinute.each, now), all: rateLimit(perMinute.all, now), unrecorded: 0 }
}

/** True where the audit log may get one more of what this user, or somebody at this network, can repeat. */
export function mayRecord(
  { refusals }: { readonly refusals: RefusalBounds },
  crowd: Crowd,
  name: string,
): boolean {
  const may = refusals.each.take(`${crowd} ${name}`).allowed && refusals.all.take(crowd).allowed
  if (!may && crowd !== 'refresh') refusals.unrecorded += 1
  return may
}

/** True for the code of a refusal of which the audit log is told. */
export function isToldOf(code: string | undefined): code is string {
  return code !== undefined && told.has(code)
}
