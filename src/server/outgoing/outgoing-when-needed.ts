import type { Reach } from './address-guard.ts'
import type { Outgoing } from './outgoing.ts'

/** Requests to other systems; what that takes is loaded with the first of them. */
export function outgoingWhenNeeded(reach: Reach): Outgoing {
  let loaded: Promise<Outgoing> | undefined
  return async (request) => {
    loaded ??= import('./outgoing.ts').then(({ outgoingTo }) => outgoingTo(reach))
    return (await loaded)(request)
  }
}

/** Wherever its user could send requests without it as well, as from an academy in their own process. */
export const anywhere: Reach = { allow: ['0.0.0.0/0', '::/0'], loopback: true }
