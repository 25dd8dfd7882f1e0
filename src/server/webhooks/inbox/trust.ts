import type { HttpHeaders } from '../../../contract/http.ts'
import type { SigningKeys, Trust } from '../../../webhooks/delivery.ts'
import { canvasKeysUrl, type FetchKeySet, knownKeys, publishedKeys } from '../../../webhooks/key-set.ts'
import type { AppOptions } from '../../http/request-context.ts'
import { type Integration, webhookSecretsAt } from '../../integrations/integration.ts'

const keySetLimits = { timeoutMs: 5000, maximumBytes: 256 * 1024 }
const keySetHeaders: HttpHeaders = { accept: 'application/json' }

/** Key sets of an app, by their address: fetched seldom, however many deliveries there are. */
const published = new WeakMap<AppOptions, (url: string) => SigningKeys>()

/** Secrets that an app has opened, by the kind of their system: the key that opens them is in a file, which takes time. */
const opened = new WeakMap<AppOptions, Map<string, Opened>>()
const openedForMs = 1000

interface Opened {
  readonly state: string
  readonly atMs: number
  readonly secrets: readonly string[]
}

/** The webhook secrets that count now, as they were at most a second ago. */
function secretsNow(app: AppOptions, integration: Integration, now: Date): readonly string[] {
  const { lmsKind, version, updatedAt } = integration
  const known = opened.get(app) ?? new Map<string, Opened>()
  opened.set(app, known)
  const [state, atMs] = [`${version} ${updatedAt}`, now.getTime()]
  const before = known.get(lmsKind)
  if (before?.state === state && Math.abs(atMs - before.atMs) < openedForMs) return before.secrets
  const secrets = webhookSecretsAt(integration, app.sealing, now.toISOString())
  known.set(lmsKind, { state, atMs, secrets })
  return secrets
}

/**
 * What an integration takes as proof at a time; undefined where it takes nothing: it is not set up to receive. Throws 503
 * where its secrets cannot be opened.
 */
export function trustOf(app: AppOptions, integration: Integration, now: Date): Trust | undefined {
  const secrets = secretsNow(app, integration, now)
  const { lmsKind, rootAccountUuid } = integration
  const keys = lmsKind === 'canvas' && rootAccountUuid !== null ? keysOf(app, integration) : null
  if (secrets.length === 0 && keys === null) return undefined
  return { secrets, rootAccountUuid, keys, now: now.getTime() }
}

function keysOf(app: AppOptions, { jwks, jwksUrl }: Integration): SigningKeys {
  if (jwks !== null) return knownKeys(jwks)
  let keys = published.get(app)
  if (!keys) {
    keys = publishedKeys(fetchingBy(app), () => app.now().getTime())
    published.set(app, keys)
  }
  return keys(jwksUrl ?? canvasKeysUrl)
}

function fetchingBy({ outgoing }: AppOptions): FetchKeySet {
  return async (url) => {
    const { status, body, isCut } = await outgoing({
      method: 'GET',
      url,
      headers: keySetHeaders,
      ...keySetLimits,
    })
    if (status !== 200 || isCut)
      throw new TypeError(`${url} answered ${status}${isCut ? ', more than is read' : ''}`)
    return body.toString('utf8')
  }
}
