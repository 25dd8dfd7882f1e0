import { isJsonObject } from '../codec/json-object.ts'
import { parseJsonOrNull } from '../codec/json-text.ts'
import type { LmsKind, MappedNoun } from '../contract/constants.ts'
import { DeliveryFault } from './delivery-fault.ts'
import type { Candidate, EventSettings, LmsEvent } from './event.ts'
import { readEvent } from './read-event.ts'

/**
 * Returns the external ids of the course and the learner of a payload, for mappings; undefined if it has
 * none.
 */
export function mappingKeys(
  kind: LmsKind,
  body: string | null,
  settings: EventSettings,
): Readonly<Record<MappedNoun, string | undefined>> {
  const payload = body === null ? null : parseJsonOrNull(body)
  const event = isJsonObject(payload) ? eventIn(() => readEvent(kind, payload, settings)) : undefined
  if (!event || event.type === 'ignored') return { course: undefined, user: undefined }
  return { course: keyIn(event.course), user: keyIn(event.learner) }
}

function eventIn(adapted: () => LmsEvent): LmsEvent | undefined {
  try {
    return adapted()
  } catch (error) {
    if (error instanceof DeliveryFault) return undefined
    throw error
  }
}

function keyIn(candidates: readonly Candidate[]): string | undefined {
  return candidates.find(({ by }) => by === 'key')?.value
}
