import type { MappedNoun } from '../../../contract/integration-choices.ts'
import type { EventSettings } from '../../../webhooks/event.ts'
import { mappingKeys } from '../../../webhooks/mapping-keys.ts'
import { requireKind } from '../../integrations/lms-kind.ts'

/** Returns the external ids of the course and the learner in a payload, for which mappings can be created. */
export function unmatchedKeys(
  lmsKind: string,
  body: string | null,
  settings: EventSettings,
): Readonly<Record<MappedNoun, string | undefined>> {
  return mappingKeys(requireKind(lmsKind), body, settings)
}
