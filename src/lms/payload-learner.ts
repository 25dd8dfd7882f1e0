import { isJsonObject, type JsonObject } from '../codec/json-text.ts'
import type { LmsKind } from '../contract/constants.ts'
import { canonicalCanvasId, canvasIds } from './canvas.ts'
import { type Candidate, candidatesOf } from './event.ts'
import { memberAt } from './payload.ts'
import { standardCandidates } from './standard.ts'

type Name = readonly [Candidate['by'], string]

const canvas: readonly Name[] = [
  ['email', 'body.user.email'],
  ['externalId', 'body.student_sis_id'],
  ['key', 'body.user_id'],
  ['key', 'body.student_id'],
  ['key', 'body.user.id'],
]
const thinkific: readonly Name[] = [
  ['email', 'payload.user.email'],
  ['key', 'payload.user.id'],
]

/**
 * Paths at which payloads of each kind identify their learner, also in payloads that are otherwise invalid.
 */
const places: Readonly<Record<LmsKind, readonly Name[]>> = {
  canvas,
  moodle: [['key', 'relateduserid']],
  openedx: [['key', 'user_id']],
  thinkific,
  standard: [['reference', 'data.userId']],
}

const maxLength = 255

/**
 * Returns everything that identifies the learner of a payload, even an invalid or ignored one, so that
 * erasing a user finds stored payloads. Never throws; empty if the payload has no learner.
 */
export function learnerCandidatesOf(kind: LmsKind, body: JsonObject): readonly Candidate[] {
  const objects = [body, ...Object.values(body)].filter(isJsonObject)
  const within = kind === 'openedx' ? objects : [body]
  const found = places[kind].flatMap(([by, path]) =>
    within.flatMap((object) => {
      const name = nameAt(object, path)
      return name === null ? [] : [[by, name] as const]
    }),
  )
  return candidatesOf(
    ...found.flatMap((name) => formsOf(kind, name)),
    ...(kind === 'canvas' ? caliperNames(body) : []),
  )
}

function formsOf(kind: LmsKind, [by, name]: Name): readonly Name[] {
  if (by === 'reference') return standardCandidates(name)
  return kind === 'canvas' && by === 'key' ? canvasIds(name, null) : [[by, name]]
}

/**
 * Returns the assignee of a Caliper event: `urn:instructure:canvas:user:<id>`, and the school's id beside it.
 */
function caliperNames(body: JsonObject): readonly Name[] {
  const data = memberAt(body, 'data')
  const event: unknown = Array.isArray(data) ? data[0] : undefined
  const assignee = isJsonObject(event) ? memberAt(event, 'object.assignee') : undefined
  if (!isJsonObject(assignee)) return []
  const [key, extensions] = [nameAt(assignee, 'id'), memberAt(assignee, 'extensions')]
  const own = isJsonObject(extensions) ? extensions['com.instructure.canvas'] : undefined
  const sis = isJsonObject(own) ? nameAt(own, 'sis_id') : null
  return [
    ...(key === null ? [] : canvasIds(key.slice(key.lastIndexOf(':') + 1), null)),
    ...(sis === null ? [] : [['externalId', sis] as const]),
  ]
}

function nameAt(body: JsonObject, path: string): string | null {
  const value = memberAt(body, path)
  const name = ['string', 'number', 'bigint'].includes(typeof value) ? String(value).trim() : ''
  return name.length > 0 && name.length <= maxLength ? name : null
}

/** Identifies a learner that only has a key of an external system; the same for all forms of the key. */
export function keyHint(kind: string, key: string): string {
  return `key:${kind}:${kind === 'canvas' ? canonicalCanvasId(key, null) : key}`
}
