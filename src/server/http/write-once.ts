import type { Operation } from '../../contract/operation.ts'
import type { Store, Transaction } from '../database/database.ts'
import { ProblemError } from '../problem/problem-error.ts'
import { type IdempotentRequest, once } from './idempotency.ts'
import type { Reply } from './reply.ts'
import { problemReply, type RequestContext } from './request-context.ts'

/**
 * A transaction in which what may come again is done once, and answered the same ever after. A refusal is such an answer,
 * too: what was done before it is undone with its whole transaction, and another one keeps it. So only what is refused pays
 * for that.
 *
 * @param begin checks who asks, before an earlier answer is looked for; gives the work
 */
export async function writeOnce(
  database: Store,
  context: RequestContext,
  operation: Operation,
  request: IdempotentRequest,
  begin: (transaction: Transaction) => Promise<() => Promise<Reply>>,
): Promise<Reply> {
  const onceIn = (transaction: Transaction, work: () => Promise<Reply>) =>
    once(transaction, request, work, (reply) => withoutSecret(operation, reply))
  try {
    return await database.write(async (transaction) => {
      const work = await begin(transaction)
      return onceIn(transaction, () => work().catch(refuse))
    })
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    const refusal = problemReply(error.fault, context)
    return database.write((transaction) => onceIn(transaction, async () => refusal))
  }
}

/** What the work itself was refused for; a fault of whoever asks, or of the key, is none. */
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
