import type { HttpHeaders } from '../../contract/http.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Reply } from './reply.ts'

/** How a request is handled that has something unknown or unlikely in it (RFC 7240 §4.4). */
export type Handling = 'strict' | 'lenient'

/**
 * The handling that a client prefers, where it gets it; null where it says nothing, or asks for a leniency that the
 * operation does not have. Every operation is strict with what it does not know.
 */
export function handlingOf({ lenient }: Operation, { prefer }: HttpHeaders): Handling | null {
  if (prefer === undefined) return null
  const wanted = /(?:^|[,;])\s*handling\s*=\s*"?(strict|lenient)"?\s*(?:$|[,;])/i.exec(prefer)?.[1]
  const handling = wanted?.toLowerCase()
  return handling === 'strict' || (handling === 'lenient' && lenient !== undefined) ? handling : null
}

/** A reply that says how its request was handled (RFC 7240 §3), where that was asked for. */
export function withHandling(reply: Reply, handling: Handling | null): Reply {
  if (handling === null) return reply
  return { ...reply, headers: { ...reply.headers, 'preference-applied': `handling=${handling}` } }
}
