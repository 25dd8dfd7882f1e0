import type { HttpHeaders } from '../../contract/http.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Reply } from './reply.ts'

/** Strict or lenient handling of unknown or unlikely input (RFC 7240 §4.4). */
export type Handling = 'strict' | 'lenient'

/**
 * Returns the handling that the client prefers and gets; null without a preference, or for a leniency that
 * the operation does not support. All operations are strict about unknown input.
 */
export function handlingOf({ lenient }: Operation, { prefer }: HttpHeaders): Handling | null {
  if (prefer === undefined) return null
  const wanted = /(?:^|[,;])\s*handling\s*=\s*"?(strict|lenient)"?\s*(?:$|[,;])/i.exec(prefer)?.[1]
  const handling = wanted?.toLowerCase()
  return handling === 'strict' || (handling === 'lenient' && lenient !== undefined) ? handling : null
}

/** Adds the applied preference to a reply (RFC 7240 §3). */
export function withHandling(reply: Reply, handling: Handling | null): Reply {
  if (handling === null) return reply
  return { ...reply, headers: { ...reply.headers, 'preference-applied': `handling=${handling}` } }
}
