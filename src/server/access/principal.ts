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

/** From where somebody did something. */
export interface Origin {
  /** The address that a request came from; null in this process. */
  readonly address: string | null
  readonly userAgent: string | null
  /** Null for what nobody asked for with a request. */
  readonly requestId: string | null
}

/** Where this process does something by itself. */
export const nowhere: Origin = { address: null, userAgent: null, requestId: null }

/** The scopes that a credential of a user with this role can have. */
export const grantable: Readonly<Record<RoleName, readonly Scope[]>> = {
  admin: ['read', 'write', 'admin'],
  instructor: ['read', 'write'],
  analyst: ['read'],
  learner: ['read', 'write'],
}
