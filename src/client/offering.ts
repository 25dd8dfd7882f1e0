import { isJsonObject } from '../codec/json-object.ts'
import type { Operation } from '../contract/operation.ts'
import { listOf } from './decode.ts'
import { ApiError, NotOfferedError, type Target } from './errors.ts'

/**
 * What an operation's refusal stands for on a platform that may lack it: NotOfferedError, or the refusal
 * itself. 405 and 501 say it outright; a 404 without our code only where no thing was named that could be missing.
 * Where one was, `readList` reads the list it would stand in: without that list the operation is not offered, and
 * neither is it when the list shows the very thing that was not found.
 */
export async function offeringErrorOf(
  target: Target,
  operation: Operation,
  params: Readonly<Record<string, string>>,
  error: ApiError,
  readList: (path: string) => Promise<unknown>,
): Promise<Error> {
  const notOffered = new NotOfferedError(target, operation.id, error)
  if (error.status === 405 || error.status === 501) return notOffered
  if (error.status !== 404 || error.coded) return error

  const named = /^(.*?)\/\{(\w+)\}/.exec(operation.path)
  // A published operation is everywhere; what it can miss is a thing named in its path or body.
  if (operation.published && (named !== null || operation.method !== 'GET')) return error
  if (named === null) return notOffered

  const [, listPath = '', name = ''] = named
  try {
    return shows(listOf(target, await readList(listPath)).data, params[name]) ? notOffered : error
  } catch (fault) {
    return fault instanceof ApiError && [404, 405, 501].includes(fault.status) ? notOffered : error
  }
}

function shows(items: readonly unknown[], id: string | undefined): boolean {
  return items.some((item) => isJsonObject(item) && 'id' in item && String(item['id']) === id)
}
