import type { HttpHeaders } from '../../../contract/http.ts'
import type { SigningKeys, Trust } from '../../../webhooks/delivery.ts'
import { canvasKeysUrl, type FetchKeySet, fixedKeys, publishedKeys } from '../../../webhooks/key-set.ts'
import type { AppOptions } from '../../http/request-context.ts'
import { type Integration, webhookSecretsAt } from '../../integrations/integration.ts'
import { ProblemError, unavailable } from '../../problem/problem-error.ts'
import { cachedOpening, type Sealing } from '../../sealing/sealing.ts'

const keySetLimits = { timeoutMs: 5000, maximumBytes: 256 * 1024 }
const keySetHeaders: HttpHeaders = { accept: 'application/json' }

/** So soon a delivery may come again that could not be verified. */
const retrySeconds = 60

/** Key sets of an app, by their address: fetched seldom, however many deliveries there are. */
const published = new WeakMap<AppOptions, (url: string) => SigningKeys>()

/** What opens the secrets of an app. */
const opening = new WeakMap<AppOptions, Pick<Sealing, 'open'>>()

/**
 * What an integration takes as proof at a time; undefined where it takes nothing: it is not set up to receive. Throws 503
 * where its secrets cannot be opened.
 */
export function trustOf(app: AppOptions, integration: Integration, now: Date): Trust | undefined {
  const secrets = secretsOf(app, integration, now)
  const { lmsKind, rootAccountUuid } = integration
  const keys = lmsKind === 'canvas' && rootAccountUuid !== null ? keysOf(app, integration) : null
  if (secrets.length === 0 && keys === null) return undefined
  return { secrets, rootAccountUuid, keys, now: now.getTime() }
}

/** Why a secret cannot be opened is for whoever runs the server, who finds it in the log: anybody may send here. */
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
