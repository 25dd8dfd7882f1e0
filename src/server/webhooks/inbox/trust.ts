import type { HttpHeaders } from '../../../contract/http.ts'
import type { SigningKeys, Trust } from '../../../webhooks/delivery.ts'
import { canvasKeysUrl, type FetchKeySet, fixedKeys, publishedKeys } from '../../../webhooks/key-set.ts'
import type { AppOptions } from '../../http/request-context.ts'
import { type Integration, webhookSecretsAt } from '../../integrations/integration.ts'
import { ProblemError, unavailable } from '../../problem/problem-error.ts'
import { cachedOpening, type Sealing } from '../../sealing/sealing.ts'

const keySetLimits = { timeoutMs: 5000, maximumBytes: 256 * 1024 }
const keySetHeaders: HttpHeaders = { accept: 'application/json' }

/** Retry-After for a delivery that cannot be verified now. */
const retrySeconds = 60

/** Cached key sets of an app, by URL. */
const published = new WeakMap<AppOptions, (url: string) => SigningKeys>()

/** Caches of decrypted secrets, by app. */
const opening = new WeakMap<AppOptions, Pick<Sealing, 'open'>>()

/**
 * Returns the secrets and keys that an integration trusts at a time; undefined if it cannot receive. Throws
 * 503 if its secrets cannot be decrypted.
 */
export function trustOf(app: AppOptions, integration: Integration, now: Date): Trust | undefined {
  const secrets = secretsOf(app, integration, now)
  const { lmsKind, rootAccountUuid } = integration
  const keys = lmsKind === 'canvas' && rootAccountUuid !== null ? keysOf(app, integration) : null
  if (secrets.length === 0 && keys === null) return undefined
  return { secrets, rootAccountUuid, keys, now: now.getTime() }
}

/**
 * Returns the webhook secrets. Only the log says why they cannot be decrypted, because anyone can send
 * requests here.
 */
function secretsOf(app: AppOptions, integration: Integration, now: Date): string[] {
  try {
    return webhookSecretsAt(integration, openingOf(app), now.toISOString())
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error
    throw unavailable('Deliveries cannot be verified at the moment.', retrySeconds, error)
  }
}

function openingOf(app: AppOptions): Pick<Sealing, 'open'> {
  const known = opening.get(app) ?? cachedOpening(app.sealing, app.now)
  opening.set(app, known)
  return known
}

function keysOf(app: AppOptions, { jwks, jwksUrl }: Integration): SigningKeys {
  if (jwks !== null) return fixedKeys(jwks)
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
