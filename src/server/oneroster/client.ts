import type { MachineScope } from '../../contract/constants.ts'
import { type Bucket, countRequest, isRecordedCode } from '../http/limits.ts'
import { recordRefusedRequest } from '../http/record-refusal.ts'
import type { Reply } from '../http/reply.ts'
import type { Handled, Visit, WebRoute } from '../http/web-route.ts'
import { findClientToken } from '../oauth/client-token.ts'
import { ProblemError, tooMany } from '../problem-error.ts'
import { refused } from './status-info.ts'

/** An application that acts for itself. */
export interface MachineClient {
  readonly clientId: string
  readonly scopes: readonly MachineScope[]
}

/** The path has `:name` for each parameter, which may name a person. */
interface MachineOperation extends Pick<WebRoute, 'method' | 'path'> {
  readonly scope: MachineScope
}

const challenge = 'Bearer realm="learnctl"'

/**
 * Identifies the application by its token, and answers its request if it has the scope. Its requests are counted by
 * application, refusals are recorded in the audit log. Throws 401 without a valid token.
 */
export async function answerClient(
  visit: Visit,
  { method, path, scope }: MachineOperation,
  answer: (client: MachineClient) => Promise<Reply>,
): Promise<Handled> {
  const { limits, request, academy } = visit
  const client = await identifyClient(visit).catch(async (error: unknown) => {
    if (error instanceof ProblemError && isRecordedCode(error.code)) {
      await recordRefusedRequest(academy, limits, request, `${method} ${path}`, error.code, undefined)
    }
    throw error
  })
  const bucket: Bucket = { kind: 'known', name: client.clientId }
  return {
    principal: { userId: null, credential: client.clientId },
    bucket,
    reply: () => {
      if (client.scopes.includes(scope)) return answer(client)
      throw refused('insufficient_scope', 'forbidden', `The token does not have the scope ${scope}.`)
    },
  }
}

/** Throws 401 without a valid token. */
export async function identifyClient({ database, limits, request }: Visit): Promise<MachineClient> {
  const authorization = request.raw.headers['authorization'] ?? null
  const anonymous: Bucket = { kind: 'anonymous', name: request.address }
  if (authorization === null) {
    countRequest(limits, anonymous)
    throw new ProblemError('missing_credentials', 'The Authorization header is required.', {
      headers: { 'www-authenticate': challenge },
    })
  }
  const [, token = ''] = /^Bearer +([\w.~+/-]+=*)$/i.exec(authorization) ?? []
  const found = await findClientToken(database, token, request.now)
  if (found) return found
  const { allowed, resetSeconds } = limits.failures.take(request.address)
  if (!allowed) throw tooMany('failed credentials', resetSeconds)
  const detail =
    'The token is not that of an application with machine scopes, or has expired or been revoked.'
  throw new ProblemError('invalid_token', detail, {
    headers: { 'www-authenticate': `${challenge}, error="invalid_token"` },
  })
}
