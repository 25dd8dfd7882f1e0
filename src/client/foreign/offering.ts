import type { Operation } from '../../contract/operation.ts'
import {
  ApiError,
  hostOf,
  lineOf,
  NotOfferedError,
  ProtocolError,
  refusalOf,
  type Target,
} from '../errors.ts'
import { nounOf } from './names.ts'
import { idOf } from './record.ts'

/** Reads the items of the list at a path, page by page. */
type ReadList = (path: string) => AsyncIterable<readonly unknown[]>

/**
 * Decides whether an error means that the platform lacks the operation: returns NotOfferedError, or else the error.
 * 405 and 501 say so. A 404 without a code of this API says so only if the request names no record that could be missing.
 * If it names one, `readList` reads the list of such records. Without that list the operation is not supported, nor is it
 * if the list contains the record, which NotOfferedError then carries. If the list fails, a read gets that error.
 * Otherwise the error names both possibilities. A web page, or a failure without a status, in place of a record counts as
 * a 404 if the list can be read.
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
  // All platforms have the published operations, so what is missing is a record in the path or the body.
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
    // A failed list does not show that the record is missing: `get || create` would create a duplicate.
    if (shown && cause instanceof Error) return cause
    if (said) return notOffered()
  }
  if (said) return notOffered()
  const answered = unclear ? unclear.detail : 'returned 404'
  const message = `${hostOf(target)} has no ${noun} ${id}, or does not support ${operation.id} (${lineOf(target)} ${answered})`
  return new ApiError(target, { ...refusalOf(error), detail: message })
}

/** Returns a response that neither is the record nor gives a reason as a 404 that describes it; null for any other. */
function unclearAnswer(fault: ApiError | ProtocolError): ApiError | null {
  const { answer } = fault
  const missing = { status: 404, code: 'not_found', coded: false, faults: [] } as const
  if (fault instanceof ApiError) {
    if (fault.status > 299) return null
    const detail = `returned ${fault.status}: ${fault.detail}`
    return new ApiError(fault, { ...refusalOf(fault), ...missing, detail })
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
