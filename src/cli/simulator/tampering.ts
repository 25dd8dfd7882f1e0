import type { LmsKind } from '../../contract/integration-choices.ts'
import type { SignedDelivery } from '../../webhooks/delivery.ts'
import { kinds } from '../../webhooks/kinds.ts'
import { UsageError } from '../terminal/errors.ts'
import { type Tampering, tamperings } from './choices.ts'

/** What of a delivery its signature covers: anything else can be changed without anybody noticing. */
export function protectedParts(kind: LmsKind, standard: boolean): readonly Tampering[] {
  const { proof } = kinds[kind]
  if (standard || proof.by === 'standard') return tamperings
  switch (proof.by) {
    case 'jwt':
      return ['body', 'id', 'signature']
    case 'hmac':
      return ['body', 'signature']
    default:
      // The secret itself goes along: there is nothing to sign with.
      return ['signature']
  }
}

/** A delivery of which one part was changed on its way. */
export function tampered(delivery: SignedDelivery, part: Tampering): SignedDelivery {
  const { headers } = delivery
  if (headers['webhook-signature'] === undefined) return withoutStandard(delivery, part)
  switch (part) {
    case 'body':
      return { ...delivery, body: otherBody(delivery.body) }
    case 'id':
      return withHeader(delivery, 'webhook-id', `${headers['webhook-id']}x`)
    case 'time':
      return withHeader(delivery, 'webhook-timestamp', String(Number(headers['webhook-timestamp']) + 1))
    case 'signature':
      return withHeader(delivery, 'webhook-signature', otherText(headers['webhook-signature'], 3))
  }
}

function withoutStandard(delivery: SignedDelivery, part: Tampering): SignedDelivery {
  const { headers, query, body } = delivery
  const jwt = /^"([\w-]+)\.([\w-]+)\.([\w-]+)"$/.exec(body)
  if (jwt) {
    const [, head = '', claims = '', signature = ''] = jwt
    const parts = {
      id: [changedJson(head, (text) => text.replace(/"kid":"/, '"kid":"x')), claims, signature],
      body: [head, changedJson(claims, otherBody), signature],
      time: [head, claims, signature],
      signature: [head, claims, otherText(signature)],
    }
    return { ...delivery, body: `"${parts[part].join('.')}"` }
  }
  if (part === 'body') return { ...delivery, body: otherBody(body) }
  const signature = Object.keys(headers).find((name) => /hmac|signature/.test(name))
  if (signature !== undefined) return withHeader(delivery, signature, otherText(headers[signature] ?? ''))
  // A secret with one other letter would still tell the secret.
  const [name] = Object.keys(query)
  if (name !== undefined) return { ...delivery, query: { [name]: 'tampered' } }
  return { ...delivery, body: body.replace(/"token":"(?:[^"\\]|\\.)*"/, '"token":"tampered"') }
}

function withHeader(delivery: SignedDelivery, name: string, value: string): SignedDelivery {
  return { ...delivery, headers: { ...delivery.headers, [name]: value } }
}

function changedJson(encoded: string, change: (text: string) => string): string {
  return Buffer.from(change(Buffer.from(encoded, 'base64url').toString())).toString('base64url')
}

/** The same JSON with one more member, which a reader would not look at. */
function otherBody(body: string): string {
  return `{"tampered":true,${body.slice(1)}`
}

/** A text with another character at a place: a digit, which has no other case. */
function otherText(text: string, at = 0): string {
  const other = text[at] === '0' ? '1' : '0'
  return text.slice(0, at) + other + text.slice(at + 1)
}

/** The part that is to be changed. Throws a UsageError on one that the kind's signature does not cover. */
export function tamperingOf(
  given: string | undefined,
  kind: LmsKind,
  standard: boolean,
): Tampering | undefined {
  if (given === undefined) return undefined
  const part = tamperings.find((each) => each === given)
  const parts = protectedParts(kind, standard)
  if (part && parts.includes(part)) return part
  if (part === undefined) {
    throw new UsageError(`--tamper must be one of ${tamperings.join(', ')}, not ${JSON.stringify(given)}`, {
      choice: { given, valid: tamperings },
    })
  }
  throw new UsageError(`--tamper ${part} proves nothing: ${kinds[kind].title} does not sign that`, {
    hint: `Use ${parts.map((each) => `--tamper ${each}`).join(' or ')}, or --standard-headers`,
  })
}
