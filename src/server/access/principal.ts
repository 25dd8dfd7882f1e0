import type { RoleName, Scope } from '../../contract/operation.ts'

/** Who is asking, with what, and what that allows at this moment. */
export interface Principal {
  readonly userId: string
  readonly role: RoleName
  /** The credential's scopes, without those that the owner's role cannot have now. */
  readonly scopes: readonly Scope[]
  readonly method: 'api_key' | 'oauth' | 'local'
  /** The id of the credential, as it stands in logs: that of a key or of a grant, or `local`. */
  readonly credential: string
}

/** The scopes that a credential of a user with this role can have. */
export const grantable: Readonly<Record<RoleName, readonly Scope[]>> = {
  admin: ['read', 'write', 'admin'],
  instructor: ['read', 'write'],
  analyst: ['read'],
  learner: ['read', 'write'],
}
