import type { RoleName, Scope } from '../../contract/operation.ts'

/** Who is asking, with what, and what that allows at this moment. */
export interface Principal {
  readonly userId: string
  readonly role: RoleName
  /** The credential's scopes ∩ those the role may have now (api.md §2, "Scopes"). */
  readonly scopes: readonly Scope[]
  readonly method: 'api_key' | 'oauth' | 'local'
  /** The id of the credential, as it stands in logs: that of a key or of a grant, or `local`. */
  readonly credential: string
}

/** The scopes that a credential of someone in this role can carry (api.md §2, "Grantable"). */
export const grantable: Readonly<Record<RoleName, readonly Scope[]>> = {
  admin: ['read', 'write', 'admin'],
  instructor: ['read', 'write'],
  analyst: ['read'],
  learner: ['read', 'write'],
}
