import type { Scope } from '../../contract/operation.ts'
import { recordChange } from '../changes/change.ts'
import { principalOf, type SignedIn, type WritingVisit, writingOf } from '../pages/browser-session.ts'

/** Tells that a user allowed an application to act for them; the grant comes to be once it asks for its tokens. */
export function recordAllowance(
  visit: WritingVisit,
  user: Pick<SignedIn, 'id' | 'role'>,
  { id: clientId, name: clientName }: { readonly id: string; readonly name: string },
  scopes: readonly Scope[],
): Promise<void> {
  const after = { userId: user.id, clientId, clientName, scopes }
  const call = writingOf(visit, principalOf(user))
  return recordChange(call, { action: 'grant.allowed', id: clientId, before: null, after })
}
