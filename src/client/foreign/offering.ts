import type { Operation } from '../../contract/operation.ts'
import { ApiError, hostOf, lineOf, NotOfferedError, ProtocolError, type Target } from '../errors.ts'
import { nounOf } from './names.ts'
import { idOf } from './record.ts'

/** Reads the items of the list at a path, page by page. */
export type ReadList = (path: string) => AsyncIterable<readonly unknown[]>

/**
 * What an operation's refusal stands for on a platform that may lack it: NotOfferedError, or the refusal
 * itself. 405 and 501 say it outright; a 404 without our code only where no thing was named that could be missing.
 * Where one was, `readList` reads the list it would stand in: without that list the operation is not offered, and
 * neither is it when the list shows the very thing that was not found, which then comes with the error. A fault of that
 * list is the error of a read. Otherwise the refusal says both. A web page, or a failure without a status, in place of one thing is such
 * a 404 as soon as the list can be read; otherwise it stays what it is.
 */
export async function offeringErrorOf(
  target: Target,
  operation: Operation,
  params: Readonly<Record<string, string>>,
  fault: ApiError | ProtocolError,
  readList: ReadList,
): Promise<Error> {
  const named = /^(.*?)\/\{(\w+)\}(.*)$/.exec(operation.path)
  const [, listPath = '', name = '', rest] = named ?? []
  const shown = operation.method === 'GET' && rest === ''
  const unclear = shown ? unclearAnswer(fault) : null
  const error = unclear ?? fault
  if (error instanceof ProtocolError) return error

  const notOffered = (listed?: unknown) => new NotOfferedError(target, operation.id, error, listed)
  const said = error.status === 405 || error.status === 501
  if (!said && (error.status !== 404 || error.coded)) return error
  // A published operation is everywhere; what it can miss is a thing named in its path or body.
  if (!said && operation.published && (named !== null || operation.method !== 'GET')) return error
  if (named === null || (said && !shown)) return notOffered()

  const id = params[name] ?? ''
  const noun = nounOf(operation)
  try {
    for await (const items of readList(listPath)) {
      const found = items.find((item) => idOf(item, noun) === id)
      if (found !== undefined) return notOffered(shown ? found : undefined)
    }
  } catch (cause) {
    const absent = cause instanceof ApiError && [404, 405, 501].includes(cause.status)
    if (unclear && (absent || cause instanceof ProtocolError)) return fault
    if (absent) return notOffered()
    // A list that failed does not show that the thing is missing: `get || create` would make it twice.
    if (shown && cause instanceof Error) return cause
    if (said) return notOffered()
  }
  if (said) return notOffered()
  const answered = unclear ? unclear.detail : 'returned 404'
  const message = `${hostOf(target)} has no ${noun} ${id}, or does not support ${operation.id} (${lineOf(target)} ${answered})`
  return new ApiError(target, { ...error, detail: message })
}

/** An answer that neither is the thing nor says why not, as a 404 whose detail says what came; null for any other. */
function unclearAnswer(fault: ApiError | ProtocolError): ApiError | null {
  const { answer } = fault
  const missing = { status: 404, code: 'not_found', coded: false, faults: [] } as const
  if (fault instanceof ApiError) {
    if (fault.status > 299) return null
    return new ApiError(fault, { ...fault, ...missing, detail: `returned ${fault.status}: ${fault.detail}` })
  }
  if (answer === null || fault.code !== 'html') return null
  const rest = { problem: null, requestId: null, retryAfterMs: null, neededScopes: [] } as const
  return new ApiError(fault, {
    ...rest,
    ...missing,
    detail: `returned ${answer.status} and a web page`,
    answer,
  })
}
