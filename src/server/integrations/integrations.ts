import { isDeepStrictEqual } from 'node:util'
import sql from 'sql-template-tag'
import { isJsonObject } from '../../codec/json-text.ts'
import type { LmsKind } from '../../contract/constants.ts'
import type { Fault } from '../../contract/errors.ts'
import {
  IntegrationInput,
  integrations,
  Integration as Shown,
  type ShownSecret,
} from '../../contract/integrations.ts'
import { decodedSecret } from '../../lms/standard.ts'
import { recordChange } from '../changes/change.ts'
import type { Database, Row } from '../database/database.ts'
import { during, page } from '../database/page.ts'
import { type Call, requireVersion } from '../http/handler.ts'
import { resourceOf, routesOf } from '../http/schema-routes.ts'
import { invalid, notFound, ProblemError } from '../problem-error.ts'
import { checkConnection, isPassed } from './connection-check.ts'
import { readRecords, recordWrites, writeRecords } from './foreign-records.ts'
import {
  type Integration,
  integrationColumns,
  integrationOf,
  requireKind,
  type SingleSecret,
  type StoredSecret,
  secretPlaceOf,
  storeIntegration,
  toIntegration,
  webhookPathOf,
} from './integration.ts'
import { mappingHandlers } from './mappings.ts'

const kindsOfField: Readonly<Record<string, readonly LmsKind[]>> = {
  rootAccountUuid: ['canvas'],
  jwksUrl: ['canvas'],
  jwks: ['canvas'],
  clientId: ['classroom', 'oneroster'],
  clientSecret: ['classroom', 'oneroster'],
  refreshToken: ['classroom'],
  tokenUrl: ['classroom', 'oneroster'],
}

export const integrationRoutes = routesOf(integrations, {
  list: ({ database, query, now }) =>
    page<Row, Shown>(
      database,
      {
        columns: integrationColumns,
        from: sql`integrations i`,
        where: [during(sql`i.created_at`, query), during(sql`i.updated_at`, { since: query.updated_since })],
      },
      { sort: 'lmsKind', expressions: { lmsKind: sql`i.lms_kind` }, id: sql`i.lms_kind` },
      query,
      (row) => shownIntegration(toIntegration(row), now),
    ),

  async get({ database, params, now }) {
    return shownIntegration(await findIntegration(database, params.lmsKind), now)
  },

  async set(call) {
    const { database, now } = call
    const lmsKind = requireKind(call.params.lmsKind)
    const stored = await integrationOf(database, lmsKind)
    const current = stored && shownIntegration(stored, now)
    const input = resourceOf(call, IntegrationInput, Shown, current, faultsOf(lmsKind, call.rawBody))
    requireVersion(call, stored?.version ?? 0)
    const sent = isJsonObject(call.rawBody) ? call.rawBody : {}
    // null removes a field in a merge patch, but the parsed body does not distinguish it from an absent one.
    const removed = (field: string) => Object.hasOwn(sent, field) && sent[field] === null
    requireSecretsAgain(stored, sent, input)
    const secrets = await changedSecrets(call, lmsKind, stored, {
      accessToken: removed('accessToken') ? null : input.accessToken,
      clientSecret: removed('clientSecret') ? null : input.clientSecret,
      refreshToken: removed('refreshToken') ? null : input.refreshToken,
      webhookSecrets: removed('webhookSecrets') ? null : input.webhookSecrets,
      oldSecretEndsAt: removed('oldSecretEndsAt') ? null : input.oldSecretEndsAt,
    })
    const next: Integration = {
      lmsKind,
      baseUrl: input.baseUrl,
      ...secrets,
      clientId: input.clientId,
      tokenUrl: input.tokenUrl,
      rootAccountUuid: input.rootAccountUuid,
      jwksUrl: input.jwksUrl,
      jwks: input.jwks && JSON.stringify(input.jwks),
      gradeToProgress: input.gradeToProgress,
      gradeItems: input.gradeItems,
      defaultGradeMaximum: input.defaultGradeMaximum,
      version: stored?.version ?? 0,
      createdAt: stored?.createdAt ?? now,
      updatedAt: stored?.updatedAt ?? now,
    }
    if (current && isDeepStrictEqual(next, stored)) return current
    const changed = { ...next, version: next.version + 1, updatedAt: now }
    await storeIntegration(database, changed)
    const after = shownIntegration(changed, now)
    await recordChange(call, { action: 'integration.updated', id: lmsKind, before: current ?? null, after })
    return after
  },

  async remove(call) {
    const found = await findIntegration(call.database, call.params.lmsKind)
    const { lmsKind } = found
    requireVersion(call, found.version)
    await call.database.run(sql`delete from integrations where lms_kind = ${lmsKind}`)
    const before = shownIntegration(found, call.now)
    await recordChange(call, { action: 'integration.removed', id: lmsKind, before, after: null })
    return undefined
  },

  test: {
    prepare: async (call) => {
      const integration = await findIntegration(call.database, call.params.lmsKind)
      return checkConnection(integration, call)
    },
    // The check ran before the transaction; nothing is written.
    handle: ({ prepared, params }) => {
      const checks = prepared as Awaited<ReturnType<typeof checkConnection>>
      const lmsKind = requireKind(params.lmsKind)
      return {
        lmsKind,
        passed: isPassed(checks),
        webhookPath: webhookPathOf(lmsKind),
        checks,
      }
    },
  },

  write: { prepare: writeRecords, handle: recordWrites },

  records: { isUntransacted: true, handle: readRecords },

  ...mappingHandlers,
})

async function findIntegration(database: Database, kind: string): Promise<Integration> {
  const found = await integrationOf(database, requireKind(kind))
  if (!found) throw notFound('integration', kind)
  return found
}

function faultsOf(kind: LmsKind, rawBody: unknown): Fault[] {
  if (!isJsonObject(rawBody)) return []
  const faults: Fault[] = []
  for (const [field, others] of Object.entries(kindsOfField)) {
    if (others.includes(kind) || (rawBody[field] ?? null) === null) continue
    const detail = `applies to ${others.join(' and ')} only`
    faults.push({ pointer: `#/${field}`, code: 'not_applicable', detail })
  }
  const secrets: unknown = rawBody['webhookSecrets']
  if (kind !== 'standard' || !Array.isArray(secrets)) return faults
  for (const [index, secret] of secrets.entries()) {
    if (typeof secret !== 'string' || isStandardSecret(secret)) continue
    const detail = 'must be whsec_ followed by 24 to 64 bytes in base64'
    faults.push({ pointer: `#/webhookSecrets/${index}`, code: 'invalid_secret', detail })
  }
  return faults
}

/** Standard Webhooks 1.0.0. */
function isStandardSecret(secret: string): boolean {
  const bytes = decodedSecret(secret)
  return bytes !== null && bytes.length >= 24 && bytes.length <= 64
}

function shownIntegration(integration: Integration, now: string): Shown {
  const { accessToken, clientSecret, refreshToken, webhookSecrets, jwks, gradeItems, ...rest } = integration
  return {
    lmsKind: rest.lmsKind,
    baseUrl: rest.baseUrl,
    secrets: {
      accessToken: accessToken && shownSecret(accessToken),
      clientSecret: clientSecret && shownSecret(clientSecret),
      refreshToken: refreshToken && shownSecret(refreshToken),
      webhook: webhookSecrets.filter(({ endsAt }) => endsAt === null || endsAt > now).map(shownSecret),
    },
    clientId: rest.clientId,
    tokenUrl: rest.tokenUrl,
    rootAccountUuid: rest.rootAccountUuid,
    jwksUrl: rest.jwksUrl,
    jwks: jwks === null ? null : (JSON.parse(jwks) as Shown['jwks']),
    gradeToProgress: rest.gradeToProgress,
    gradeItems: { ...gradeItems },
    defaultGradeMaximum: rest.defaultGradeMaximum,
    webhookPath: webhookPathOf(rest.lmsKind),
    version: rest.version,
    createdAt: rest.createdAt,
    updatedAt: rest.updatedAt,
  }
}

function shownSecret({ setAt, last4, endsAt }: StoredSecret): ShownSecret {
  return { setAt, last4, endsAt }
}

/** Minimum length of a secret whose last four characters may be shown. */
const minLengthToShowEnd = 24
/** Maximum time for which a replaced secret stays valid, in case of a mistyped year. */
const maxOverlapMs = 366 * 24 * 60 * 60 * 1000

type SecretCall = Pick<Call, 'database' | 'sealing' | 'now'>
type Sent = Pick<IntegrationInput, SingleSecret | 'webhookSecrets' | 'oldSecretEndsAt'>

const recipients = {
  baseUrl: ['accessToken', 'refreshToken'],
  tokenUrl: ['clientSecret', 'refreshToken'],
} as const
const secretWords: Readonly<Record<SingleSecret, string>> = {
  accessToken: 'access token',
  clientSecret: 'client secret',
  refreshToken: 'refresh token',
}

/** Throws 422: a user who changes an address must not get the secrets; they must be sent again or removed. */
function requireSecretsAgain(
  stored: Integration | undefined,
  sent: object,
  next: Pick<Integration, 'baseUrl' | 'tokenUrl'>,
): void {
  for (const [field, secrets] of Object.entries(recipients) as [
    keyof typeof recipients,
    readonly SingleSecret[],
  ][]) {
    if (next[field] === null || next[field] === (stored?.[field] ?? null)) continue
    // The token of a client goes to the system, and belongs to its secret.
    const isClient = stored?.lmsKind === 'oneroster' && field === 'baseUrl'
    const missing = [...secrets, ...(isClient ? (['clientSecret'] as const) : [])].find(
      (secret) => stored?.[secret] && !Object.hasOwn(sent, secret),
    )
    if (missing === undefined) continue
    const detail = `requires the ${secretWords[missing]} again: the stored one was set for another address`
    const code = `${secretWords[missing].replace(' ', '_')}_required`
    throw invalid([{ pointer: `#/${field}`, code, detail }])
  }
}

async function changedSecrets(
  call: SecretCall,
  kind: string,
  stored: Integration | undefined,
  sent: Sent,
): Promise<Pick<Integration, SingleSecret | 'webhookSecrets'>> {
  const { now } = call
  const end = sent.oldSecretEndsAt
  if (end && Date.parse(end) - Date.parse(now) > maxOverlapMs) {
    throw invalid([
      { pointer: '#/oldSecretEndsAt', code: 'too_late', detail: 'must be within a year from now' },
    ])
  }
  const changed = async (field: SingleSecret) =>
    changeSecret(call, secretPlaceOf(kind, field), stored?.[field] ?? null, sent[field])
  return {
    accessToken: await changed('accessToken'),
    clientSecret: await changed('clientSecret'),
    refreshToken: await changed('refreshToken'),
    webhookSecrets: await changeSecrets(call, kind, stored?.webhookSecrets ?? [], sent),
  }
}

async function changeSecret(
  call: SecretCall,
  place: string,
  before: StoredSecret | null,
  sent: string | null | undefined,
): Promise<StoredSecret | null> {
  if (sent === undefined) return before
  if (sent === null) return null
  return isStored(call, place, before, sent) ? before : sealSecret(call, place, sent)
}

async function changeSecrets(
  call: SecretCall,
  kind: string,
  before: readonly StoredSecret[],
  { webhookSecrets: sent, oldSecretEndsAt }: Sent,
): Promise<readonly StoredSecret[]> {
  const [newest, old] = before
  if (sent === undefined) {
    if (!newest || !old || oldSecretEndsAt === undefined) return before
    return [newest, ...withEnd(old, oldSecretEndsAt, call.now)]
  }
  const [first, second] = sent ?? []
  if (first === undefined) return []
  if (first === second) {
    throw invalid([
      { pointer: '#/webhookSecrets/1', code: 'duplicate', detail: 'must not be the first one again' },
    ])
  }
  const place = secretPlaceOf(kind, 'webhookSecret')
  const isSame = newest !== undefined && isStored(call, place, newest, first)
  const next = isSame ? newest : await sealSecret(call, place, first)
  if (second !== undefined) {
    const known = before.find((secret) => isStored(call, place, secret, second))
    return [
      next,
      ...withEnd(known ?? (await sealSecret(call, place, second)), oldSecretEndsAt ?? null, call.now),
    ]
  }
  // The same secret again: only the end of the previous one can change, to an earlier time.
  if (isSame) {
    if (!old || oldSecretEndsAt === undefined) return before
    const sooner = [old.endsAt ?? '', oldSecretEndsAt ?? ''].toSorted()[0] ?? ''
    return [next, ...withEnd(old, sooner, call.now)]
  }
  // A secret that cannot be decrypted cannot verify anything, so it is dropped.
  const previous = newest && decryptOrNone(call, place, newest) !== undefined ? newest : undefined
  return previous && oldSecretEndsAt ? [next, ...withEnd(previous, oldSecretEndsAt, call.now)] : [next]
}

function withEnd(secret: StoredSecret, endsAt: string | null, now: string): StoredSecret[] {
  return endsAt !== null && endsAt > now ? [{ ...secret, endsAt }] : []
}

function isStored(call: SecretCall, place: string, stored: StoredSecret | null, sent: string): boolean {
  return stored !== null && decryptOrNone(call, place, stored) === sent
}

/** Undefined if that fails, since any new secret replaces it. */
function decryptOrNone({ sealing }: SecretCall, place: string, { sealed }: StoredSecret): string | undefined {
  try {
    return sealing.open(place, sealed)
  } catch (error) {
    if (error instanceof ProblemError) return undefined
    throw error
  }
}

async function sealSecret(
  { database, sealing, now }: SecretCall,
  place: string,
  text: string,
): Promise<StoredSecret> {
  return {
    sealed: await sealing.seal(database, place, text),
    setAt: now,
    last4: text.length >= minLengthToShowEnd ? text.slice(-4) : null,
    endsAt: null,
  }
}
