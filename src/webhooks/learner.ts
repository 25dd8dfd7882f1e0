import { isJsonObject, type JsonObject } from '../codec/json-object.ts'
import type { LmsKind } from '../contract/integration-choices.ts'
import { candidates } from './adapter.ts'
import { canvasIds } from './canvas-id.ts'
import type { Candidate } from './event.ts'
import { memberAt } from './member.ts'
import { named } from './standard.ts'

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

/** Where payloads of each kind name their learner, whatever else is wrong with them. */
const places: Readonly<Record<LmsKind, readonly Name[]>> = {
  canvas,
  moodle: [['key', 'relateduserid']],
  openedx: [['key', 'user_id']],
  thinkific,
  standard: [['reference', 'data.userId']],
}

const longest = 255

/**
 * What a payload calls its learner, even where it means nothing: whoever is erased has to be found in what is kept. Throws
 * nothing; none where it names nobody.
 */
export function learnerIn(kind: LmsKind, body: JsonObject): readonly Candidate[] {
  const objects = [body, ...Object.values(body)].filter(isJsonObject)
  const within = kind === 'openedx' ? objects : [body]
  const found = places[kind].flatMap(([by, path]) =>
    within.flatMap((object) => {
      const name = nameAt(object, path)
      return name === null ? [] : [[by, name] as const]
    }),
  )
  return candidates(
    ...found.flatMap((name) => formsOf(kind, name)),
    ...(kind === 'canvas' ? caliperNames(body) : []),
  )
}

function formsOf(kind: LmsKind, [by, name]: Name): readonly Name[] {
  if (by === 'reference') return named(name)
  return kind === 'canvas' && by === 'key' ? canvasIds(name, null) : [[by, name]]
}

/** The assignee of an event of Caliper: `urn:instructure:canvas:user:<id>`, and the id of the school beside it. */
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
  return name.length > 0 && name.length <= longest ? name : null
}
