import type { RoleName, Scope } from '../../contract/operation.ts'

/** What a caller sees: the whole academy, the courses that they teach with their learners, or what is their own. */
export type Sight = 'all' | 'taught' | 'own'

/** The caller, the credential, and what that permits now. */
export interface Principal {
  readonly userId: string
  readonly role: RoleName
  readonly sees: Sight
  /** The credential's scopes, reduced to those that the owner's role may have now. */
  readonly scopes: readonly Scope[]
  readonly method: 'api_key' | 'oauth' | 'local'
  /** Id of the credential for logs: that of a key or a grant, or `local`. */
  readonly credential: string
}

/** Where a change comes from. */
export interface Origin {
  /** Address of the client; null in this process. */
  readonly address: string | null
  readonly userAgent: string | null
  /** Null without a request. */
  readonly requestId: string | null
}

/** Origin of what this process does on its own. */
export const nowhere: Origin = { address: null, userAgent: null, requestId: null }

/** Scopes that a credential may have, by the role of its owner. */
export const grantable: Readonly<Record<RoleName, readonly Scope[]>> = {
  admin: ['read', 'write', 'admin'],
  instructor: ['read', 'write'],
  analyst: ['read'],
  learner: ['read', 'write'],
}

/** Returns what a user sees, by their role and the academy's setting for instructors. */
export function sightOf(role: RoleName, instructorAccess: string): Sight {
  if (role === 'learner') return 'own'
  return role === 'instructor' && instructorAccess === 'taught' ? 'taught' : 'all'
}
