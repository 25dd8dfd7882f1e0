import { isJsonObject } from '../codec/json-text.ts'
import { matchesReference, parseReference } from '../codec/reference.ts'
import type { Call } from '../contract/calls.ts'
import type { Operation } from '../contract/operation.ts'
import type { AnyInput, Result } from './call.ts'
import { ApiError, RequestError } from './errors.ts'

interface WrittenPlatform {
  readonly host: string
  readonly isOurs: () => boolean
  readonly call: (operation: Operation, input: AnyInput) => Promise<Result<unknown>>
  readonly pages: (
    operation: Operation,
    input: AnyInput,
  ) => AsyncIterable<{ readonly data: readonly unknown[] }>
}

const listByField: Readonly<Record<string, 'courses' | 'lessons' | 'users'>> = {
  courseId: 'courses',
  lessonId: 'lessons',
  userId: 'users',
  learnerId: 'users',
}

/**
 * Returns the input of a write as the platform takes it. A server of this API resolves `ext:` and `email:` references and
 * compares versions itself; for any other, a reference is looked up in the list of such records, once, and the version in
 * the record. All of that is read before anything is written.
 *
 * Throws RequestError `not_resolved` for a reference that no record shows, `version_unknown` and `precondition_failed`.
 *
 * @param ids known ids by reference
 */
export async function prepareWrite(
  platform: WrittenPlatform,
  ids: Map<string, Promise<string>>,
  operation: Operation,
  input: AnyInput,
): Promise<AnyInput> {
  const { params = {}, body, ifMatch, signal } = input
  const fields = isJsonObject(body) ? body : {}
  const needsReads = ifMatch !== undefined || [params, fields].some((each) => referencesIn(each).length > 0)
  if (platform.isOurs() || operation.method === 'DELETE' || !needsReads) return input
  const { calls } = await import('../contract/calls.ts')
  // The first reply shows whether it is a server of this API.
  await platform.call(calls.service.health, { signal }).catch(ignoreRefusal)
  if (platform.isOurs()) return input

  const resolve = async <Values extends Readonly<Record<string, unknown>>>(
    values: Values,
  ): Promise<Values> => {
    const resolved = referencesIn(values).map(async ([field, reference]) => {
      const group = listByField[field] ?? 'courses'
      const id = ids.get(reference) ?? findId(platform, calls[group].list, reference, signal)
      ids.set(reference, id)
      return [field, await id] as const
    })
    return { ...values, ...Object.fromEntries(await Promise.all(resolved)) }
  }
  const resolvedParams = await resolve(params)
  if (ifMatch !== undefined) {
    const shows = Object.values<Call>(calls[groupOf(operation)] ?? {}).find(
      ({ method, path }) => method === 'GET' && path === operation.path,
    )
    await requireVersion(platform, shows, { params: resolvedParams, signal }, String(ifMatch))
  }
  const prepared = { ...input, params: resolvedParams }
  return isJsonObject(body) ? { ...prepared, body: await resolve(fields) } : prepared
}

function groupOf({ id }: Operation): 'courses' | 'lessons' | 'users' {
  return id.split('.')[0] as 'courses' | 'lessons' | 'users'
}

function ignoreRefusal(error: unknown): void {
  if (!(error instanceof ApiError) && !(error instanceof Error && 'operation' in error)) throw error
}

function referencesIn(values: Readonly<Record<string, unknown>>): (readonly [string, string])[] {
  return Object.keys(listByField).flatMap((field) => {
    const value = values[field]
    return typeof value === 'string' && parseReference(value).by !== 'id' ? [[field, value] as const] : []
  })
}

async function findId(
  platform: WrittenPlatform,
  list: Call,
  text: string,
  signal: AbortSignal | undefined,
): Promise<string> {
  const reference = parseReference(text)
  const field = reference.by === 'email' ? 'email' : 'externalId'
  const asked = { signal, handling: 'lenient' } as const
  for await (const { data } of platform.pages(list, asked)) {
    const found = data.filter(isJsonObject).find((item) => matchesReference(reference, item[field]))
    if (found) return String(found['id'])
  }
  const noun = list.id.replace(/s\..*$/, '')
  throw new RequestError('not_resolved', `${platform.host} does not resolve ${text}`, {
    why: [`Its ${noun}s show no ${field} ${reference.value}`],
    noun,
  })
}

async function requireVersion(
  platform: WrittenPlatform,
  shows: Call | undefined,
  input: AnyInput,
  wanted: string,
): Promise<void> {
  const shown = shows && (await platform.call(shows, input)).data
  const version = isJsonObject(shown) ? shown['version'] : undefined
  if (version === undefined || version === null) {
    throw new RequestError('version_unknown', `${platform.host} does not support If-Match here`, {
      why: ['It shows no version to compare with'],
    })
  }
  if (String(version) === wanted) return
  const message = `The current version is ${version}, but If-Match requires ${wanted}`
  throw new RequestError('precondition_failed', message)
}
