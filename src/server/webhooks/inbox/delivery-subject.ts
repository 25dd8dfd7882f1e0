import type { JsonObject } from '../../../codec/json-object.ts'
import type { LmsKind } from '../../../contract/integration-choices.ts'
import type { Candidate } from '../../../webhooks/event.ts'
import { keyHint, learnerCandidatesOf } from '../../../webhooks/payload-learner.ts'
import type { Database } from '../../database/database.ts'
import { resolveIdentities } from '../../integrations/resolve-identities.ts'
import { keepsBody, type Outcome } from './outcome.ts'

/** Identifies the user of a stored delivery, so that erasing the user finds it. */
interface DeliverySubject {
  readonly userId: string | null
  /** The external name of a learner who is unknown here. */
  readonly hint: string | null
}

/**
 * Returns the user of a delivery, even of an ignored one, because its stored payload may contain personal
 * data.
 */
export async function deliverySubjectOf(
  database: Database,
  kind: LmsKind,
  body: JsonObject,
  outcome: Outcome,
): Promise<DeliverySubject> {
  const { userId, status } = outcome
  if (userId !== null || !keepsBody(outcome)) return { userId, hint: null }
  const learner = learnerCandidatesOf(kind, body)
  // An unmatched learner is known not to exist here.
  const isLookedFor = status !== 'unmatched' && learner.length > 0
  const found = isLookedFor
    ? await resolveIdentities(database, kind, { course: [], user: learner })
    : undefined
  return found?.user ? { userId: found.user, hint: null } : { userId: null, hint: hintOf(kind, learner) }
}

function hintOf(kind: LmsKind, learner: readonly Candidate[]): string | null {
  const by = (wanted: Candidate['by']) => learner.find((candidate) => candidate.by === wanted)?.value
  const [email, external, reference, key] = [by('email'), by('externalId'), by('reference'), by('key')]
  if (email !== undefined) return `email:${email.toLowerCase()}`
  if (external !== undefined) return `ext:${external}`
  if (reference !== undefined) return reference.startsWith('email:') ? reference.toLowerCase() : reference
  return key === undefined ? null : keyHint(kind, key)
}
