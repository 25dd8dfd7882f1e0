import sql from 'sql-template-tag'
import { isJsonObject, type JsonObject, parseJsonOrNull } from '../../codec/json-text.ts'
import type { LmsKind, RecordPart } from '../../contract/constants.ts'
import type { IntegrationCheck } from '../../contract/integrations.ts'
import { classroomSignIn, missingScopes } from '../../lms/classroom-records.ts'
import { recordSystemOf } from '../../lms/kinds.ts'
import { moodleErrorIn, moodleRequest } from '../../lms/moodle-records.ts'
import { oneRosterScopes } from '../../lms/oneroster-records.ts'
import { authorizationOf } from '../../lms/openedx.ts'
import type { RecordPage, RecordRequest } from '../../lms/records.ts'
import type { Database } from '../database/database.ts'
import type { Call } from '../http/handler.ts'
import type { AccessToken } from '../outgoing/access-token.ts'
import {
  OutgoingError,
  type OutgoingRequest,
  type OutgoingResponse,
  type OutgoingTrouble,
} from '../outgoing/outgoing.ts'
import { ProblemError } from '../problem-error.ts'
import { forgetAccess, GrantError, grantAccess, grantClientAccess, signInAgain } from './foreign-access.ts'
import { askForPage } from './foreign-records.ts'
import { type Integration, secretOf, webhookSecretsAt } from './integration.ts'

type Check = IntegrationCheck['checks'][number]
type CheckCall = Pick<Call, 'database' | 'sealing' | 'outgoing' | 'now'>

const timeoutMs = 10_000
const maximumBytes = 64 * 1024
/** Recent ones of all systems, to find the last one of this system. */
const maxDeliveriesSearched = 1000

const hintByTrouble: Partial<Record<OutgoingTrouble, string>> = {
  forbidden_address: ': to allow it, start the server with --webhook-allow',
}

export async function checkConnection(integration: Integration, call: CheckCall): Promise<Check[]> {
  return [
    ...(await checkAccess(integration, call)),
    checkSecret(integration, call),
    ...(integration.lmsKind === 'canvas' ? [checkAccount(integration)] : []),
    await checkLastDelivery(integration, call.database),
  ]
}

/** An earlier delivery proves none of the settings. */
export function isPassed(checks: readonly Check[]): boolean {
  const isChecked = checks.some(({ name, status }) => status === 'ok' && name !== 'lastDelivery')
  return isChecked && checks.every(({ status }) => status !== 'failed')
}

async function checkAccess(integration: Integration, call: CheckCall): Promise<Check[]> {
  const { lmsKind, baseUrl } = integration
  if (lmsKind === 'classroom') return checkClassroom(integration, call)
  if (lmsKind === 'oneroster') return checkOneRoster(integration, call)
  const probeOf = probes[lmsKind]
  if (!probeOf) {
    return [check('connection', 'skipped', 'Standard Webhooks has no API to ask; only the secret is checked')]
  }
  if (baseUrl === null) {
    return ['connection', 'accessToken'].map((name) => check(name, 'skipped', 'no base URL is set'))
  }
  const token = await granted('accessToken', () => secretOf(integration, 'accessToken', call.sealing))
  if (typeof token === 'object') {
    return [check('connection', 'skipped', 'the access token cannot be read'), token]
  }
  const checks = await sendProbe(probeOf(baseUrl, token ?? ''), token !== undefined, call)
  const isAccepted = checks.some(({ name, status }) => name === 'accessToken' && status === 'ok')
  return token !== undefined && isAccepted ? [...checks, ...(await checkRecords(integration, call))] : checks
}

async function checkClassroom(integration: Integration, call: CheckCall): Promise<Check[]> {
  const { baseUrl, tokenUrl } = integration
  // A check asks Google again whether the sign-in is still valid.
  forgetAccess(integration, call)
  const grant = await granted('signIn', () =>
    grantAccess(integration, tokenUrl ?? classroomSignIn.tokenUrl, call),
  )
  if (!grant) return [check('signIn', 'skipped', `no user has signed in: ${signInAgain}`)]
  if ('status' in grant) return [grant]
  const url = `${baseUrl ?? classroomSignIn.baseUrl}/v1/userProfiles/me`
  const probe: Probe = {
    request: get(url, { authorization: `Bearer ${grant.token}` }),
    ownerOf: ({ id, emailAddress }) =>
      id === undefined ? undefined : formatName(emailAddress ?? 'a user without a visible address', id),
  }
  return [
    check('signIn', 'ok', 'Google granted access'),
    checkScopes(grant.scopes),
    ...(await sendProbe(probe, true, call)),
  ]
}

function checkScopes(scopes: AccessToken['scopes']): Check {
  if (scopes === null) return check('scopes', 'ok', 'Google does not say which scopes are granted')
  const toRead = missingScopes(scopes, classroomSignIn.readScopes)
  if (toRead.length > 0) {
    const noun = toRead.length === 1 ? 'scope' : 'scopes'
    const detail = `missing ${noun} ${toRead.join(', ')}: ${signInAgain}, and allow all`
    return check('scopes', 'failed', detail)
  }
  const toWrite = missingScopes(scopes, classroomSignIn.scopes)
  const all = 'all scopes are granted'
  const detail = toWrite.length === 0 ? all : `can only read: writing requires ${toWrite.join(', ')}`
  return check('scopes', 'ok', detail)
}

async function checkOneRoster(integration: Integration, call: CheckCall): Promise<Check[]> {
  const { baseUrl } = integration
  forgetAccess(integration, call)
  const grant = await granted('client', () => grantClientAccess(integration, oneRosterScopes, call))
  if (!grant) {
    const { tokenUrl, clientId, clientSecret } = integration
    const parts = { 'token URL': tokenUrl, 'client id': clientId, 'client secret': clientSecret }
    const missing = Object.entries(parts).flatMap(([name, value]) => (value === null ? [name] : []))
    const isBegun = baseUrl !== null || missing.length < Object.keys(parts).length
    return [check('client', isBegun ? 'failed' : 'skipped', `no ${missing.join(', no ')} is set`)]
  }
  if ('status' in grant) return [grant]
  const { token } = grant
  const client = check('client', 'ok', 'the provider granted access')
  if (baseUrl === null) return [client, check('connection', 'skipped', 'no base URL is set')]
  const probeOf = (path: string): Probe => ({
    request: get(`${baseUrl}${path}/orgs?limit=1`, { authorization: `Bearer ${token}` }),
    ownerOf: ({ orgs }) => {
      const [first] = Array.isArray(orgs) ? orgs.filter(isJsonObject) : []
      return first && `a client of ${formatName(first['name'], first['sourcedId'])}`
    },
  })
  const checks = await sendProbe(probeOf('/rostering/v1p2'), true, call)
  const isAccepted = checks.every(({ status }) => status === 'ok')
  return [client, ...(isAccepted ? checks : await sendProbe(probeOf('/v1p1'), true, call))]
}

async function sendProbe(probe: Probe, hasToken: boolean, { outgoing }: CheckCall): Promise<Check[]> {
  // Without a token, this only checks whether the system answers.
  const request = hasToken ? probe.request : { ...probe.request, headers: {} }
  try {
    const answer = await outgoing({ ...request, timeoutMs, maximumBytes })
    const { isAccepted, detail } = readProbeResponse(answer, probe)
    const { host } = new URL(request.url)
    return [
      check('connection', 'ok', `${host} answers`),
      hasToken
        ? check('accessToken', isAccepted ? 'ok' : 'failed', detail)
        : check('accessToken', 'skipped', 'no access token is set'),
    ]
  } catch (error) {
    if (!(error instanceof OutgoingError)) throw error
    return [
      check('connection', 'failed', error.message + (hintByTrouble[error.trouble] ?? '')),
      check('accessToken', 'skipped', 'the system cannot be reached'),
    ]
  }
}

function checkSecret(integration: Integration, { sealing, now }: CheckCall): Check {
  const name = 'webhookSecret'
  const { lmsKind } = integration
  const counting = integration.webhookSecrets.filter(({ endsAt }) => endsAt === null || endsAt > now)
  const [newest, old] = counting
  if (!newest) {
    if (lmsKind === 'classroom') return check(name, 'skipped', 'Google Classroom sends no events')
    if (lmsKind === 'oneroster') return check(name, 'skipped', 'OneRoster sends no events')
    return lmsKind === 'canvas'
      ? check(name, 'skipped', 'no webhook secret is set: only events signed by Canvas are accepted')
      : check(name, 'skipped', 'no webhook secret is set: every event is refused')
  }
  try {
    webhookSecretsAt(integration, sealing, now)
  } catch (error) {
    return check(name, 'failed', troubleIn(error))
  }
  const rotation = old?.endsAt ? `; the one before is accepted until ${old.endsAt}` : ''
  const end = newest.last4 === null ? '' : `, ends in ${newest.last4}`
  return check(name, 'ok', `set on ${newest.setAt}${end}${rotation}`)
}

function checkAccount({ rootAccountUuid, jwks, jwksUrl }: Integration): Check {
  if (rootAccountUuid === null) {
    // Keys without the account are a set-up that was left half done.
    const isBegun = jwks !== null || jwksUrl !== null
    return check(
      'rootAccountUuid',
      isBegun ? 'failed' : 'skipped',
      'no root account UUID is set: events signed by Canvas are refused, as its keys are those of all its customers',
    )
  }
  const keys = jwks === null ? (jwksUrl ?? 'the keys that Canvas publishes') : 'the keys that are stored here'
  return check('rootAccountUuid', 'ok', `events of ${rootAccountUuid} are verified with ${keys}`)
}

/** A connection without any delivery yet is not a fault. */
async function checkLastDelivery({ lmsKind }: Integration, database: Database): Promise<Check> {
  const last = await database.one<{ received_at: string; event: string; status: string }>(sql`
    select received_at, event, status from (
      select received_at, id, event, status, lms_kind from webhook_deliveries
      order by received_at desc, id desc limit ${maxDeliveriesSearched}) recent
    where lms_kind = ${lmsKind} order by received_at desc, id desc limit 1`)
  if (!last) return check('lastDelivery', 'skipped', 'nothing has been received lately')
  return check('lastDelivery', 'ok', `${last.event} on ${last.received_at}: ${last.status}`)
}

async function granted<Granted>(
  name: string,
  grant: () => Granted | Promise<Granted>,
): Promise<Granted | Check> {
  try {
    return await grant()
  } catch (error) {
    if (!(error instanceof GrantError)) return check(name, 'failed', troubleIn(error))
    const isOver = name === 'signIn' && (error.reason === 'ended' || error.reason === 'client')
    return check(name, 'failed', error.message + (isOver ? `: ${signInAgain}` : ''))
  }
}

function troubleIn(error: unknown): string {
  if (error instanceof ProblemError) return error.message.replace(/\.$/, '')
  throw error
}

function check(name: string, status: Check['status'], detail: string): Check {
  return { name, status, detail }
}

interface Probe {
  readonly request: Pick<OutgoingRequest, 'method' | 'url' | 'headers' | 'body'>
  /** Undefined if the response is unexpected. */
  readonly ownerOf: (answer: JsonObject) => string | undefined
}

/** Null if a system has none. Sources: docs/integrations.md. */
const probes: Readonly<Record<LmsKind, ((baseUrl: string, token: string) => Probe) | null>> = {
  // Canvas LMS API, Users: GET /api/v1/users/self.
  canvas: (baseUrl, token) => ({
    request: get(`${baseUrl}/api/v1/users/self`, { authorization: `Bearer ${token}` }),
    ownerOf: ({ id, name }) => (id === undefined ? undefined : formatName(name, id)),
  }),
  moodle: (baseUrl, token) => ({
    request: requestAt(baseUrl, moodleRequest(token, [['wsfunction', 'core_webservice_get_site_info']])),
    ownerOf: ({ username, sitename }) =>
      username === undefined
        ? undefined
        : `${formatName(username, undefined)} on ${formatName(sitename, undefined)}`,
  }),
  // Open edX user API: JSON Web Tokens have their own scheme.
  openedx: (baseUrl, token) => ({
    request: get(`${baseUrl}/api/user/v1/me`, {
      authorization: authorizationOf(token),
    }),
    ownerOf: ({ username }) => (username === undefined ? undefined : formatName(username, undefined)),
  }),
  // Thinkific Admin API: API keys require the site's subdomain, access tokens do not.
  thinkific: (baseUrl, token) => {
    const path = '/api/public/v1/courses?limit=1'
    const [, site = 'api'] = /^https:\/\/([\w-]+)\.thinkific\.com$/i.exec(baseUrl) ?? []
    const request =
      site.toLowerCase() === 'api'
        ? get(baseUrl + path, { authorization: `Bearer ${token}` })
        : get(`https://api.thinkific.com${path}`, { 'x-auth-api-key': token, 'x-auth-subdomain': site })
    return {
      request,
      ownerOf: ({ items }) => (Array.isArray(items) ? 'a user who can read courses' : undefined),
    }
  },
  // Its token comes from a sign-in: checkClassroom.
  classroom: null,
  // Its token is granted to a client: checkOneRoster.
  oneroster: null,
  standard: null,
}

/** The owner of the token, or why it was refused, as a clause. */
function readProbeResponse(
  { status, headers, body }: OutgoingResponse,
  { ownerOf }: Probe,
): { readonly isAccepted: boolean; readonly detail: string } {
  const refused = (detail: string) => ({ isAccepted: false, detail })
  if (status >= 300 && status < 400) {
    return refused(`redirected to ${originOf(headers['location'])}: set the base URL to where the system is`)
  }
  if (status === 401 || status === 403) return refused(`not accepted (HTTP ${status})`)
  if (status !== 200) return refused(`unexpected answer (HTTP ${status}): check the base URL`)
  const answer = parseJsonOrNull(body.toString())
  if (!isJsonObject(answer)) return refused('unexpected answer, which is not JSON: check the base URL')
  const known = ownerOf(answer)
  if (known !== undefined) return { isAccepted: true, detail: `accepted as ${known}` }
  const code = moodleErrorIn(answer)
  if (code !== null) return refused(`not accepted (${sanitize(code)})`)
  return refused('unexpected answer: check the base URL')
}

function get(url: string, headers: Readonly<Record<string, string>>): Probe['request'] {
  return { method: 'GET', url, headers: { accept: 'application/json', ...headers } }
}

function requestAt(baseUrl: string, { path, ...request }: RecordRequest): Probe['request'] {
  return { ...request, url: baseUrl + path }
}

function originOf(location: string | string[] | undefined): string {
  const address = [location].flat()[0] ?? ''
  return URL.canParse(address) ? new URL(address).origin : 'another path'
}

function formatName(name: unknown, id: unknown): string {
  const text =
    typeof name === 'string' || typeof name === 'number' ? sanitize(String(name)) : 'an unnamed user'
  return id === undefined ? text : `${text} (id ${sanitize(String(id))})`
}

function sanitize(text: string): string {
  return text.replaceAll(/\p{C}/gu, '').trim().slice(0, 100)
}

const names: Partial<Record<RecordPart, string>> = {
  memberships: 'members of groups',
  enrollments: 'enrolments',
}

/**
 * Checks which records the token may read: the first page of each list, also of the lists of the first course. An integration
 * for events needs none of them, so that a missing permission is no failure.
 */
async function checkRecords(
  integration: Integration,
  call: Pick<Call, 'sealing' | 'outgoing' | 'now'>,
): Promise<Check[]> {
  const { lmsKind, baseUrl } = integration
  const system = recordSystemOf(lmsKind)
  if (!system || baseUrl === null) return []

  const ask = async (part: RecordPart, of: string | null): Promise<RecordPage | string> => {
    try {
      const page = await askForPage(system, { part, of, position: null }, integration, call)
      if (page.records.length > 0 || page.next === null) return page
      const more = await askForPage(system, { part, of, position: page.next }, integration, call)
      return { ...more, notes: [...(page.notes ?? []), ...(more.notes ?? [])] }
    } catch (error) {
      return troubleIn(error)
    }
  }

  const courses = await ask('courses', null)
  const course = typeof courses === 'string' ? undefined : courses.records.find(({ id }) => id !== null)?.id
  const others = system.lists.filter(
    ({ part, of }) => !(part === 'courses' && of === null) && of !== 'groups',
  )
  const asked = await Promise.all(
    others.flatMap(({ part, of }) => {
      const id = of === null ? null : course
      return id === undefined ? [] : [ask(part, id).then((answer) => ({ part, answer }))]
    }),
  )
  const missing = new Set<string>()
  const seen = new Set<RecordPart>()
  for (const { part, answer } of [{ part: 'courses' as const, answer: courses }, ...asked]) {
    const reasons =
      typeof answer === 'string'
        ? [answer]
        : (answer.notes ?? []).flatMap(({ hides, text }) => (hides ? [text] : []))
    for (const reason of reasons) missing.add(reason)
    if (reasons.length === 0) seen.add(part)
  }
  const shown = [...seen].map((part) => names[part] ?? part).join(', ')
  return [
    missing.size === 0
      ? check('records', 'ok', `${shown} can be read`)
      : check('records', 'skipped', [...missing].join('; ')),
  ]
}
