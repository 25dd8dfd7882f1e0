import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import { wholeCourse } from '../contract/constants.ts'
import type { HttpHeaders } from '../contract/http.ts'
import {
  type Delivery,
  DeliveryFault,
  idAt,
  instantAt,
  invalidSignature,
  isEqualSecret,
  labelAt,
  malformedPayload,
  matchesAny,
  memberAt,
  numberAt,
  requiredIdAt,
  type Sending,
  type SignedDelivery,
} from './delivery.ts'
import { candidatesOf, type EventReader, ignoreEvent, makeGrade, type SimulatedEvents } from './event.ts'

/** Reads a score of LTI Assignment and Grade Services 2.0 in an envelope of Standard Webhooks. */
export const readStandardEvent: EventReader = ({ body, settings, at }) => {
  const name = labelAt(body, 'type')
  if (name === '') throw malformedPayload('type is required.')
  if (name !== 'grade.updated') return ignoreEvent(name, 'event_type')
  const has = (member: string) => memberAt(body, `data.${member}`) !== undefined
  if (!has('scoreGiven')) return ignoreEvent(name, 'no_score')
  const scoreGiven = numberAt(body, 'data.scoreGiven')
  const scoreMaximum = has('scoreMaximum') ? numberAt(body, 'data.scoreMaximum') : null
  if (scoreGiven !== null && (scoreMaximum === null || scoreMaximum <= 0)) {
    throw malformedPayload('data.scoreMaximum is required with data.scoreGiven, above 0.')
  }
  const grading = labelAt(body, 'data.gradingProgress')
  const event = {
    name,
    course: candidatesOf(...standardCandidatesOf(requiredIdAt(body, 'data.courseId'))),
    learner: candidatesOf(...standardCandidatesOf(requiredIdAt(body, 'data.userId'))),
    itemId: idAt(body, 'data.itemId') ?? wholeCourse,
    label: labelAt(body, 'data.label'),
    scoreGiven,
    scoreMaximum,
    published: grading === '' || grading === 'FullyGraded',
    gradedAt: has('timestamp') ? instantAt(body, 'data.timestamp') : at(),
  }
  return makeGrade(event, settings)
}

/** The id may be ours or the sender's. */
export function standardCandidatesOf(id: string) {
  return [
    ['reference', id],
    ['key', id],
    ...(/^(ext|email):/.test(id) || !id.includes('@') ? [] : [['email', id] as const]),
  ] as const
}

export const standardEvents: SimulatedEvents = {
  'grade.updated': {
    summary: 'A learner was graded in an item',
    takes: ['item', 'label', 'score', 'maximum', 'published'],
    namesUser: ['id', 'externalId', 'email'],
    namesCourse: ['id', 'externalId'],
    payload: ({ user, course, item, label, score, maximum, published, at }) => ({
      type: 'grade.updated',
      timestamp: at.toISOString(),
      data: {
        courseId: course.by === 'externalId' ? `ext:${course.value}` : course.value,
        userId: user.by === 'externalId' ? `ext:${user.value}` : user.value,
        itemId: item ?? 'quiz-1',
        ...(label !== undefined && { label }),
        timestamp: at.toISOString(),
        scoreGiven: score,
        scoreMaximum: maximum,
        activityProgress: 'Completed',
        gradingProgress: published ? 'FullyGraded' : 'PendingManual',
      },
    }),
  },
}

/** As in the libraries of Standard Webhooks. */
const toleranceSeconds = 300

/** A version and a signature; the header separates several with a space. */
const signaturePattern = /^v\d+[a-z]*,[A-Za-z0-9+/]{1,200}={0,2}$/

/** Decodes the part after `whsec_`; null for a secret of another form. */
export function decodedSecret(secret: string): Buffer | null {
  const [, text] = /^whsec_([A-Za-z0-9+/]+)={0,2}$/.exec(secret) ?? []
  if (text === undefined) return null
  const bytes = Buffer.from(text, 'base64')
  // Buffer ignores invalid trailing characters: compare, to detect them.
  return bytes.toString('base64').replace(/=+$/, '') === text ? bytes : null
}

/** Returns `v1,…` (Standard Webhooks 1.0.0). A secret without `whsec_` is used as it is. */
export function standardSignatureOf(
  secret: string,
  message: { readonly id: string; readonly seconds: number | string; readonly body: string | Uint8Array },
): string {
  const hmac = createHmac('sha256', createHmacKey(decodedSecret(secret) ?? secret))
    .update(`${message.id}.${message.seconds}.`)
    .update(message.body)
  return `v1,${hmac.digest('base64')}`
}

/** With text or bytes, createHmac takes five times as long. */
export function createHmacKey(secret: string | Buffer): KeyObject {
  return typeof secret === 'string' ? createSecretKey(secret, 'utf8') : createSecretKey(secret)
}

/** The signature then replaces the system's own proof. */
export function hasStandardSignature(headers: HttpHeaders): boolean {
  return headers['webhook-signature'] !== undefined
}

/** Returns the id. Throws DeliveryFault `invalid_signature`, or `timestamp_out_of_range` if only the time is wrong. */
export function verifyStandard(delivery: Delivery, secrets: readonly string[], now: number): string {
  const { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': list } = delivery.headers
  if (id === undefined || !/^[\x21-\x2B\x2D-\x7E]{1,255}$/.test(id)) {
    throw invalidSignature('webhook-id is required, once, with 1 to 255 characters.')
  }
  if (seconds === undefined || !/^\d{1,12}$/.test(seconds)) {
    throw invalidSignature('webhook-timestamp is required, once, in seconds since 1970.')
  }
  // Node joins repeated headers with commas, which no valid token contains.
  const tokens = list?.split(' ', 21) ?? []
  if (tokens.length === 0 || tokens.length > 20 || !tokens.every((token) => signaturePattern.test(token))) {
    throw invalidSignature('webhook-signature is required, once, as v1,<base64>.')
  }
  const message = { id, seconds, body: delivery.rawBody }
  const matches = matchesAny(secrets, (secret) => {
    const expected = standardSignatureOf(secret, message)
    return matchesAny(tokens, (token) => isEqualSecret(token, expected))
  })
  if (!matches) throw invalidSignature('webhook-signature does not match the body and the webhook secret.')
  const apart = Math.abs(Math.floor(now / 1000) - Number(seconds))
  if (apart <= toleranceSeconds) return id
  throw new DeliveryFault(
    'timestamp_out_of_range',
    `webhook-timestamp is ${apart} s from the time of this server; at most ${toleranceSeconds} s are allowed.`,
  )
}

export function signStandard(body: string, secret: string, { id, now }: Sending): SignedDelivery {
  const seconds = Math.floor(now / 1000)
  return {
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(seconds),
      'webhook-signature': standardSignatureOf(secret, { id, seconds, body }),
    },
    query: {},
    body,
  }
}
