import type { MappedNoun } from '../../../contract/integration-choices.ts'
import type { EventSettings } from '../../../webhooks/event.ts'
import { mappingKeys } from '../../../webhooks/mapping-keys.ts'
import { requireKind } from '../../integrations/lms-kind.ts'

/** What the other system calls the course and the learner of a payload: the keys that a mapping can name. */
export function unmatchedKeys(
  lmsKind: string,
  body: string | null,
  settings: EventSettings,
): Readonly<Record<MappedNoun, string | undefined>> {
  return mappingKeys(requireKind(lmsKind), body, settings)
}
