import { parse, serialize } from 'hono/utils/cookie'
import sql, { type Sql } from 'sql-template-tag'
import { isCredential } from '../../codec/credential-text.ts'
import type { RoleName } from '../../contract/operation.ts'
import { grantable, type Principal, sightOf } from '../access/principal.ts'
import { digest, fingerprint, hmacKeyOf, isSame, newCredential } from '../access/secret.ts'
import { instructorAccess } from '../access/sight.ts'
import { recordChange } from '../changes/change.ts'
import type { Actor, Writing } from '../changes/writing.ts'
import type { Database, Row, Transaction } from '../database/database.ts'
import { readForm } from '../http/request-body.ts'
import { originOf } from '../http/request-context.ts'
import type { Visit } from '../http/web-route.ts'
import { notFound, ProblemError } from '../problem-error.ts'

const sessionMs = 12 * 60 * 60 * 1000

export interface SignedIn extends Row {
  readonly id: string
  readonly email: string
  readonly role: RoleName
  readonly instructorAccess: string
}

/** `token` is the cookie's value, new without a cookie. */
export interface Visitor {
  readonly token: string
  /** Proves that a form came from one of our pages in this browser. */
  readonly csrf: string
  readonly user: SignedIn | null
  readonly headers: Readonly<Record<string, string>>
}

export interface SignedInVisit extends Visit {
  readonly visitor: Visitor
  readonly user: SignedIn
}

export type WritingVisit = Visit & { readonly database: Transaction }

export function writingOf({ database, academy, request }: WritingVisit, principal: Actor): Writing {
  const { newId } = academy
  return { database, now: request.now.toISOString(), newId, principal, origin: originOf(request) }
}

export async function visitorOf(visit: Visit): Promise<Visitor> {
  const { database, request } = visit
  const name = cookieName(visit)
  const sent = parse(request.raw.headers['cookie'] ?? '', name)[name]
  const token = sent && isCredential('browserSession', sent) ? sent : newCredential('browserSession')
  const user = await userBehind(database, token, request.now)
  return {
    token,
    csrf: await csrfOf(database, token),
    user: user ?? null,
    headers: token === sent ? {} : { 'set-cookie': cookieOf(visit, token) },
  }
}

/** Access may have ended since the page was loaded. Throws 403. */
export async function stillSignedIn({ database, request }: Visit, { token }: Visitor): Promise<SignedIn> {
  const user = await userBehind(database, token, request.now)
  if (user) return user
  throw new ProblemError('forbidden', 'You have been signed out. Reload the page.')
}

export function principalOf({
  id: userId,
  role,
  instructorAccess,
}: Pick<SignedIn, 'id' | 'role' | 'instructorAccess'>): Principal {
  // `local`: without a bearer token, as requests of a program on this machine.
  const sees = sightOf(role, instructorAccess)
  return { userId, role, sees, scopes: grantable[role], method: 'local', credential: 'browser' }
}

/** Throws 403 from another site or without the CSRF token (OWASP, Cross-Site Request Forgery Prevention), 413 and 415. */
export async function formOf(visit: Visit, visitor: Visitor): Promise<URLSearchParams> {
  const { headers } = visit.request.raw
  const origin = headers['origin']
  const site = headers['sec-fetch-site']
  const own = [new URL(visit.issuer).origin, new URL(visit.request.raw.url).origin]
  const foreign =
    origin === undefined
      ? site !== undefined && !['same-origin', 'none'].includes(site)
      : !own.includes(origin)
  if (foreign) throw new ProblemError('forbidden', 'The form was submitted from another site.')
  const form = await readForm(visit.request.raw)
  if (isSame(form.get('csrf') ?? '', visitor.csrf)) return form
  throw new ProblemError(
    'forbidden',
    'The form has expired, or you have signed in or out since it was shown. Go back, reload the page and submit again.',
  )
}

/** Starts a session with a new cookie, whatever the browser had before; returns the header that sets it. */
export async function beginSession(
  visit: WritingVisit,
  { id: userId }: Pick<SignedIn, 'id'>,
): Promise<Readonly<Record<string, string>>> {
  const { academy, database, request } = visit
  const token = newCredential('browserSession')
  const time = request.now.toISOString()
  const expiresAt = new Date(request.now.getTime() + sessionMs).toISOString()
  const browser = browserIn(request.raw.headers['user-agent'])
  const id = academy.newId('ses')
  await database.run(sql`
    insert into browser_sessions (hash, id, user_id, browser, place, created_at, expires_at)
    values (${digest(token)}, ${id}, ${userId}, ${browser}, ${placeOf(request.address)}, ${time}, ${expiresAt})`)
  const after = { id, userId, browser, expiresAt }
  const call = writingOf(visit, { userId, credential: 'browser' })
  await recordChange(call, { action: 'session.created', id, before: null, after })
  await endOldest(call, userId)
  return { 'set-cookie': cookieOf(visit, token) }
}

export async function endSession(
  visit: WritingVisit,
  { token }: Visitor,
): Promise<Readonly<Record<string, string>>> {
  const ended = await visit.database.all<EndedSession>(
    sql`delete from browser_sessions where hash = ${digest(token)} returning id, user_id`,
  )
  for (const one of ended) {
    await recordEnd(writingOf(visit, { userId: one.user_id, credential: 'browser' }), one)
  }
  return { 'set-cookie': cookieOf(visit, '', 0) }
}

async function userBehind(database: Database, token: string, now: Date): Promise<SignedIn | undefined> {
  return database.one<SignedIn>(sql`
    select u.id, u.email, u.role, ${instructorAccess} as "instructorAccess" from browser_sessions s join users u on u.id = s.user_id
    where s.hash = ${digest(token)} and s.expires_at > ${now.toISOString()} and u.status = 'active'`)
}

async function csrfOf(database: Database, token: string): Promise<string> {
  return fingerprint(await hmacKeyOf(database), Buffer.from(`csrf ${token}`))
}

/**
 * Includes the port: all ports of a host share cookies, and two academies on one machine must not sign each other
 * out.
 */
function cookieName({ issuer }: Visit): string {
  const { protocol, port } = new URL(issuer)
  return `${protocol === 'https:' ? '__Host-' : ''}learnctl_session${port && `_${port}`}`
}

function cookieOf(visit: Visit, token: string, maxAge = sessionMs / 1000): string {
  const secure = visit.issuer.startsWith('https:')
  return serialize(cookieName(visit), token, { path: '/', httpOnly: true, sameSite: 'Lax', secure, maxAge })
}

/** Times are ISO 8601 in UTC. */
export interface BrowserSession extends Row {
  readonly id: string
  /** `Firefox on Linux` */
  readonly browser: string
  /** `192.0.2.*` */
  readonly place: string
  readonly createdAt: string
  readonly expiresAt: string
  readonly isThis: 0 | 1
}

/** `token` is the session cookie. */
interface Asking {
  readonly database: Database
  readonly userId: string
  readonly token: string
}

const maxSessionsPerUser = 50

export async function sessionsOf({ database, userId, token }: Asking, now: Date): Promise<BrowserSession[]> {
  return database.all<BrowserSession>(sql`
    select id, browser, place, created_at as "createdAt", expires_at as "expiresAt", hash = ${digest(token)} as "isThis"
    from browser_sessions where user_id = ${userId} and expires_at > ${now.toISOString()}
    order by created_at desc limit ${maxSessionsPerUser}`)
}

/** Throws 404. */
export async function endOneSession(call: Writing, userId: string, id: string): Promise<void> {
  const ended = await endSessions(call, sql`user_id = ${userId} and id = ${id}`)
  if (ended === 0) throw notFound('session', id)
}

export async function endOtherSessions(
  call: Writing,
  { userId, token }: Omit<Asking, 'database'>,
): Promise<void> {
  await endSessions(call, sql`user_id = ${userId} and hash <> ${digest(token)}`)
}

export interface EndedSession extends Row {
  readonly id: string
  readonly user_id: string
}

async function endSessions(call: Writing, which: Sql): Promise<number> {
  const ended = await call.database.all<EndedSession>(
    sql`delete from browser_sessions where ${which} returning id, user_id`,
  )
  for (const one of ended) await recordEnd(call, one)
  return ended.length
}

export function recordEnd(call: Writing, { id, user_id: userId }: EndedSession): Promise<void> {
  return recordChange(call, { action: 'session.ended', id, before: { id, userId }, after: null })
}

async function endOldest(call: Writing, userId: string): Promise<void> {
  await endSessions(
    call,
    sql`hash in (select hash from browser_sessions where user_id = ${userId}
      order by created_at desc limit 1000 offset ${maxSessionsPerUser})`,
  )
}

/** The first match counts, because each browser also names its ancestors. */
const browsers = [
  ['Edg', 'Edge'],
  ['OPR', 'Opera'],
  ['Firefox', 'Firefox'],
  ['FxiOS', 'Firefox'],
  ['Chrom', 'Chrome'],
  ['CriOS', 'Chrome'],
  ['Safari', 'Safari'],
] as const

const systems = [
  ['Android', 'Android'],
  ['iPhone', 'iOS'],
  ['iPad', 'iPadOS'],
  ['Windows', 'Windows'],
  ['CrOS', 'ChromeOS'],
  ['Mac OS X', 'macOS'],
  ['Linux', 'Linux'],
] as const

/** Maximum length of a User-Agent to parse; browsers send less. */
const maxUserAgentLength = 512

/** `Firefox on Linux`; nothing finer, which could identify a person. */
function browserIn(userAgent: string | undefined): string {
  const text = (userAgent ?? '').slice(0, maxUserAgentLength)
  const named = (names: readonly (readonly [string, string])[]) =>
    names.find(([part]) => text.includes(part))?.[1]
  const browser = named(browsers) ?? 'Unknown browser'
  const system = named(systems)
  return system ? `${browser} on ${system}` : browser
}

/**
 * Returns an approximate network: the first 24 bits of an IPv4 address, `192.0.2.*`, or the first 48 of an IPv6
 * network, `2001:db8:1::/48`. Providers assign these to a place, not to a person.
 */
function placeOf(network: string): string {
  if (network.includes(':')) return `${network.split(':', 3).join(':')}::/48`
  return network.replace(/\.\d+$/, '.*')
}
