import type { JsonObject } from '../../../codec/json-object.ts'
import type { LmsKind } from '../../../contract/integration-choices.ts'
import type { Candidate } from '../../../webhooks/event.ts'
import { keyHint, learnerCandidatesOf } from '../../../webhooks/payload-learner.ts'
import type { Database } from '../../database/database.ts'
import { resolveIdentities } from '../../integrations/resolve-identities.ts'
import { keepsBody, type Outcome } from './outcome.ts'

/** By what an erasure finds a delivery whose payload is kept. */
interface Whom {
  readonly userId: string | null
  /** What the learner is called, where nobody here is known by it. */
  readonly hint: string | null
}

/** Whom a delivery is about, also where it means nothing: a payload that is kept may name somebody in any case. */
export async function whomOf(
  database: Database,
  kind: LmsKind,
  body: JsonObject,
  outcome: Outcome,
): Promise<Whom> {
  const { userId, status } = outcome
  if (userId !== null || !keepsBody(outcome)) return { userId, hint: null }
  const learner = learnerCandidatesOf(kind, body)
  // Of what was unmatched it is known that nobody answers to any of these.
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
