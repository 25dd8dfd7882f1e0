import { isJsonObject } from '../../../codec/json-object.ts'
import { parseJson } from '../../../codec/json-text.ts'
import type { MappedNoun } from '../../../contract/integration-choices.ts'
import { DeliveryFault } from '../../../webhooks/delivery-fault.ts'
import type { EventSettings } from '../../../webhooks/event.ts'
import { requireKind } from '../../integrations/lms-kind.ts'
import { meaningOf } from './meaning.ts'

/** What the other system calls the course and the learner of a payload: the keys that a mapping can name. */
export function unmatchedKeys(
  lmsKind: string,
  body: string | null,
  settings: EventSettings,
): Readonly<Record<MappedNoun, string | undefined>> {
  const payload = body === null ? null : parseJson(body)
  const meaning = isJsonObject(payload) ? meaningOf(requireKind(lmsKind), payload, settings) : undefined
  if (!meaning || meaning instanceof DeliveryFault || meaning.type === 'ignored') {
    return { course: undefined, user: undefined }
  }
  const keyIn = (candidates: typeof meaning.course) => candidates.find(({ by }) => by === 'key')?.value
  return { course: keyIn(meaning.course), user: keyIn(meaning.learner) }
}
