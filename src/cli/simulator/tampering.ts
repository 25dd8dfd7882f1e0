import type { LmsKind } from '../../contract/constants.ts'
import type { SignedDelivery } from '../../lms/delivery.ts'
import { kinds } from '../../lms/kinds.ts'
import { UsageError } from '../terminal/errors.ts'
import { type Tampering, tamperings } from './simulation-choices.ts'

/**
 * Returns the parts of a delivery that its signature protects; a change of any other part is not detected.
 */
export function protectedParts(kind: LmsKind, standard: boolean): readonly Tampering[] {
  const { proof } = kinds[kind]
  if (standard || proof.by === 'standard') return tamperings
  switch (proof.by) {
    case 'jwt':
      return ['body', 'id', 'signature']
    case 'hmac':
      return ['body', 'signature']
    default:
      // The delivery contains the secret itself, and no signature.
      return ['signature']
  }
}

/** Returns a delivery with one part changed. */
export function tamperWith(delivery: SignedDelivery, part: Tampering): SignedDelivery {
  const { headers } = delivery
  if (headers['webhook-signature'] === undefined) return withoutStandard(delivery, part)
  switch (part) {
    case 'body':
      return { ...delivery, body: changeBody(delivery.body) }
    case 'id':
      return withHeader(delivery, 'webhook-id', `${headers['webhook-id']}x`)
    case 'time':
      return withHeader(delivery, 'webhook-timestamp', String(Number(headers['webhook-timestamp']) + 1))
    case 'signature':
      return withHeader(delivery, 'webhook-signature', changeText(headers['webhook-signature'], 3))
  }
}

function withoutStandard(delivery: SignedDelivery, part: Tampering): SignedDelivery {
  const { headers, query, body } = delivery
  const jwt = /^"([\w-]+)\.([\w-]+)\.([\w-]+)"$/.exec(body)
  if (jwt) {
    const [, head = '', claims = '', signature = ''] = jwt
    const parts = {
      id: [changedJson(head, (text) => text.replace(/"kid":"/, '"kid":"x')), claims, signature],
      body: [head, changedJson(claims, changeBody), signature],
      time: [head, claims, signature],
      signature: [head, claims, changeText(signature)],
    }
    return { ...delivery, body: `"${parts[part].join('.')}"` }
  }
  if (part === 'body') return { ...delivery, body: changeBody(body) }
  const signature = Object.keys(headers).find((name) => /hmac|signature/.test(name))
  if (signature !== undefined) return withHeader(delivery, signature, changeText(headers[signature] ?? ''))
  // Replace it completely: a secret with one changed letter would still reveal the secret.
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

/** Adds a member that a reader ignores to a JSON text. */
function changeBody(body: string): string {
  return `{"tampered":true,${body.slice(1)}`
}

/** Changes the character at an index; to a digit, which has no case. */
function changeText(text: string, at = 0): string {
  const other = text[at] === '0' ? '1' : '0'
  return text.slice(0, at) + other + text.slice(at + 1)
}

/** Returns the part to change. Throws a UsageError on one that the kind's signature does not protect. */
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
