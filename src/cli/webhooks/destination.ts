import { assertConfidential, isLoopback, normaliseBaseUrl } from '../../client/base-url.ts'
import { ApiError } from '../../client/errors.ts'
import { shellWord } from '../../codec/display-text.ts'
import type { LmsKind } from '../../contract/constants.ts'
import type { HttpHeaders, HttpRequest, Transport } from '../../contract/http.ts'
import type { SignedDelivery } from '../../lms/delivery.ts'
import type { Context } from '../command/context.ts'
import { valueAt } from '../output/columns.ts'
import { UsageError } from '../terminal/errors.ts'
import { secretVariable } from './signing-material.ts'

export interface Destination {
  readonly url: string
  /** False for an academy in this process, and for a server on this machine. */
  readonly isElsewhere: boolean
  readonly transport: () => Promise<Transport>
}

/**
 * Returns the webhook URL at `--to`, which may be a base URL or the whole URL, or that of the profile's
 * platform or academy. Throws RequestError on an invalid URL, and on plain http to another machine.
 *
 * @param served base URL of a local academy (default its server's)
 */
export function destinationOf(
  { session, settings }: Pick<Context, 'session' | 'settings'>,
  kind: LmsKind,
  to: string | undefined,
  served = 'http://127.0.0.1:4700',
): Destination {
  const path = `/webhooks/${kind}/grades`
  const target = to === undefined ? session.target() : null
  if (target?.kind === 'local') {
    const url = served + path
    return { url, isElsewhere: false, transport: async () => (await session.open()).transport }
  }
  const base = normaliseBaseUrl(target?.url ?? to ?? '')
  const url = base.endsWith(path) ? base : base + path
  if (!settings.insecureHttp.value) assertConfidential(url)
  return { url, isElsewhere: !isLoopback(url), transport: async () => session.network }
}

export function requestOf(url: string, { headers, query, body }: SignedDelivery): HttpRequest {
  const search = new URLSearchParams(query).toString()
  const sent: HttpHeaders = { accept: 'application/json', ...headers }
  return { method: 'POST', url: search === '' ? url : `${url}?${search}`, headers: sent, body }
}

/**
 * Returns the Canvas account of the integration that receives the events. Throws a UsageError if it is unknown: for a
 * URL of no profile, and if the integration is unreadable or has none.
 */
export async function canvasAccount({ session, io }: Context, to: string | undefined): Promise<string> {
  if (to !== undefined) throw unknownAccount('The integration at --to cannot be asked for it')
  const { calls } = await import('../../contract/calls.ts')
  const caller = await session.caller()
  try {
    const { data } = await caller.call(calls.integrations.get, {
      params: { lmsKind: 'canvas' },
      signal: io.signal,
    })
    const account = valueAt(data, 'rootAccountUuid')
    if (typeof account === 'string') return account
  } catch (error) {
    if (error instanceof ApiError) throw unknownAccount(error.message.replace(/\.$/, ''))
    throw error
  }
  throw new UsageError('The canvas integration has no root account UUID', {
    why: ['A signed event is accepted only from the Canvas account of the integration'],
    hint: 'Set one: learnctl integrations set canvas --root-account-uuid <uuid>',
  })
}

function unknownAccount(why: string): UsageError {
  return new UsageError('--signing-key requires an integration that can be read', {
    why: ['A signed event is accepted only from the Canvas account of the integration', why],
    hint: 'Name the platform with --profile or --url',
  })
}

/** Formats a delivery as a curl command that takes any secret in it from the environment. */
export function curlLine(
  url: string,
  { headers, query, body }: SignedDelivery,
  secret: string | null,
): string {
  const words = [
    ...['curl', '-X', 'POST', urlWord(url, query, secret)],
    ...Object.entries(headers).flatMap(([name, value]) => ['-H', shellWord(`${name}: ${value}`)]),
    ...[
      '--data-binary',
      secret === null ? shellWord(body) : withoutSecret(body, JSON.stringify(secret).slice(1, -1)),
    ],
  ]
  return words.join(' ')
}

function urlWord(url: string, query: SignedDelivery['query'], secret: string | null): string {
  const search = new URLSearchParams(query).toString()
  const whole = search === '' ? url : `${url}?${search}`
  if (secret === null) return shellWord(whole)
  return withoutSecret(whole, new URLSearchParams([['', secret]]).toString().slice(1))
}

/** Quotes a shell word in which a variable replaces the secret. */
function withoutSecret(text: string, written: string): string {
  return text
    .split(written)
    .map((part) => (part === '' ? '' : shellWord(part)))
    .join(`"$${secretVariable}"`)
}
