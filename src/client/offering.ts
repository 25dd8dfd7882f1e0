import type { Operation } from '../contract/operation.ts'
import { ApiError, hostOf, lineOf, NotOfferedError, type Target } from './errors.ts'
import { idOf } from './member.ts'
import { nounOf } from './nouns.ts'

/** Reads the items of the list at a path, page by page. */
export type ReadList = (path: string) => AsyncIterable<readonly unknown[]>

/**
 * What an operation's refusal stands for on a platform that may lack it: NotOfferedError, or the refusal
 * itself. 405 and 501 say it outright; a 404 without our code only where no thing was named that could be missing.
 * Where one was, `readList` reads the list it would stand in: without that list the operation is not offered, and
 * neither is it when the list shows the very thing that was not found, which then comes with the error. Otherwise
 * nobody knows, and the refusal says both.
 */
export async function offeringErrorOf(
  target: Target,
  operation: Operation,
  params: Readonly<Record<string, string>>,
  error: ApiError,
  readList: ReadList,
): Promise<Error> {
  const notOffered = (listed?: unknown) => new NotOfferedError(target, operation.id, error, listed)
  const said = error.status === 405 || error.status === 501
  if (!said && (error.status !== 404 || error.coded)) return error

  const named = /^(.*?)\/\{(\w+)\}(.*)$/.exec(operation.path)
  // A published operation is everywhere; what it can miss is a thing named in its path or body.
  if (!said && operation.published && (named !== null || operation.method !== 'GET')) return error
  const [, listPath = '', name = '', rest] = named ?? []
  const shown = operation.method === 'GET' && rest === ''
  if (named === null || (said && !shown)) return notOffered()

  const id = params[name] ?? ''
  const noun = nounOf(operation)
  try {
    for await (const items of readList(listPath)) {
      const found = items.find((item) => idOf(item, noun) === id)
      if (found !== undefined) return notOffered(shown ? found : undefined)
    }
  } catch (fault) {
    if (said || (fault instanceof ApiError && [404, 405, 501].includes(fault.status))) return notOffered()
  }
  if (said) return notOffered()
  const message = `${hostOf(target)} has no ${noun} ${id}, or does not support ${operation.id} (${lineOf(target)} returned 404)`
  return new ApiError(target, { ...error, detail: message })
}
