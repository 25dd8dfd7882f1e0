import type { AnyInput } from '../../client/call-input.ts'
import type { Caller } from '../../client/caller.ts'
import { isJsonObject } from '../../codec/json-object.ts'
import { parseReference } from '../../codec/reference.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Context } from '../command/context.ts'
import { valueAt } from '../output/columns.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'
import { referred, type ShownThings, shownThings } from './shown-things.ts'

/** A reference that is not an id, and its place in the input. */
interface Place {
  readonly part: 'params' | 'body'
  readonly name: string
  readonly reference: string
}

/**
 * Prepares a write for a remote platform: replaces `ext:` and `email:` references by ids, since the platform might
 * store them as text, and compares the required version with the current one, since the platform may ignore If-Match.
 * Both are read before anything is written. Throws a UsageError for an unknown reference, and a CommandError for
 * another version.
 */
export async function settleWrite(
  context: Pick<Context, 'session' | 'io'>,
  caller: Caller,
  operation: Operation,
  input: AnyInput,
): Promise<AnyInput> {
  const places = placesIn(input)
  if (places.length === 0 && input.ifMatch === undefined) return input
  const things = await shownThings(context, caller)
  const [ids] = await Promise.all([
    Promise.all(places.map(({ name, reference }) => things.idBehind(name, reference))),
    input.ifMatch === undefined ? undefined : requireVersion(things, operation, input),
  ])
  const idsIn = (part: Place['part']) =>
    Object.fromEntries(
      places.flatMap((place, index) =>
        place.part === part ? [[place.name, ids[index] ?? place.reference]] : [],
      ),
    )
  return {
    ...input,
    params: { ...input.params, ...idsIn('params') },
    ...(isJsonObject(input.body) && { body: { ...input.body, ...idsIn('body') } }),
  }
}

function placesIn({ params = {}, body }: AnyInput): Place[] {
  const fields = isJsonObject(body) ? body : {}
  return Object.keys(referred).flatMap((name) =>
    (['params', 'body'] as const).flatMap((part) => {
      const value = part === 'params' ? params[name] : fields[name]
      return typeof value === 'string' && parseReference(value).by !== 'id'
        ? [{ part, name, reference: value }]
        : []
    }),
  )
}

async function requireVersion(
  { host, at }: ShownThings,
  operation: Operation,
  { params, ifMatch }: AnyInput,
): Promise<void> {
  const shown = await at(operation, params)
  if (shown.kind === 'ours') return
  const current = shown.kind === 'shown' ? versionOf(shown) : null
  if (current === null) {
    throw new UsageError(`${host} does not support --if-version here`, {
      code: 'version_unknown',
      why: [shown.kind === 'hidden' ? shown.why : 'It shows no version to compare with'],
      hint: 'Run the command without --if-version',
    })
  }
  if (current === String(ifMatch)) return
  const message = `The current version is ${current}, but --if-version requires ${ifMatch}`
  throw new CommandError('precondition_failed', 'conflict', message)
}

/** Returns a numeric version from the body or a strong or weak ETag; a hash is not a version. */
function versionOf({ data, etag }: { readonly data: unknown; readonly etag: string | null }): string | null {
  // Text may have the form `3.00`.
  const [, version] = /^(\d+)(?:\.0+)?$/.exec(String(valueAt(data, 'version') ?? '')) ?? []
  if (version !== undefined) return version
  return /^(?:W\/)?"(\d+)"$/.exec(etag ?? '')?.[1] ?? null
}
