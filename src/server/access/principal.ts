import type { RoleName, Scope } from '../../contract/operation.ts'

export type Sight = 'all' | 'taught' | 'own'

export interface Principal {
  readonly userId: string
  readonly role: RoleName
  readonly sees: Sight
  /** Reduced to those that the owner's role may have now. */
  readonly scopes: readonly Scope[]
  readonly method: 'api_key' | 'oauth' | 'local'
  /** For logs: the id of a key or a grant, or `local`. */
  readonly credential: string
}

export interface Origin {
  /** Null in this process. */
  readonly address: string | null
  readonly userAgent: string | null
  /** Null without a request. */
  readonly requestId: string | null
}

/** Origin of what this process does on its own. */
export const nowhere: Origin = { address: null, userAgent: null, requestId: null }

export const grantable: Readonly<Record<RoleName, readonly Scope[]>> = {
  admin: ['read', 'write', 'admin'],
  instructor: ['read', 'write'],
  analyst: ['read'],
  learner: ['read', 'write'],
}

export function sightOf(role: RoleName, instructorAccess: string): Sight {
  if (role === 'learner') return 'own'
  return role === 'instructor' && instructorAccess === 'taught' ? 'taught' : 'all'
}
