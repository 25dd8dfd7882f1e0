import type { Operation } from '../../contract/operation.ts'
import type { Store, Transaction } from '../database/database.ts'
import { ProblemError } from '../problem/problem-error.ts'
import type { Call } from './handler.ts'
import { type IdempotentRequest, once } from './idempotency.ts'
import type { Reply } from './reply.ts'
import { problemReply, type RequestContext } from './request-context.ts'

/**
 * Does the work of a repeatable request once, in a transaction, and repeats the same reply. An error's reply
 * is stored too, in a second transaction after the rollback.
 *
 * @param allowedIn returns the call in a transaction; throws if the caller has lost access
 */
export async function writeOnce(
  database: Store,
  context: RequestContext,
  operation: Operation,
  request: IdempotentRequest,
  allowedIn: (transaction: Transaction) => Promise<Call>,
  work: (call: Call) => Promise<Reply>,
): Promise<Reply> {
  const kept = (reply: Reply) => withoutSecret(operation, reply)
  try {
    return await database.write(async (transaction) => {
      const call = await allowedIn(transaction)
      return once(transaction, request, () => work(call).catch(refuse), kept)
    })
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    const refusal = problemReply(error.fault, context)
    return database.write((transaction) => once(transaction, request, async () => refusal, kept))
  }
}

/** An error of the work, which is stored; errors of the caller or the key are not. */
class Refused extends Error {
  override readonly name = 'Refused'
  readonly fault: ProblemError

  constructor(fault: ProblemError) {
    super(fault.message, { cause: fault })
    this.fault = fault
  }
}

function refuse(error: unknown): never {
  throw error instanceof ProblemError ? new Refused(error) : error
}

function withoutSecret({ secret }: Operation, reply: Reply): Reply {
  if (!secret || typeof reply.body !== 'string' || reply.status >= 400) return reply
  return { ...reply, body: JSON.stringify({ ...(JSON.parse(reply.body) as object), [secret]: null }) }
}
