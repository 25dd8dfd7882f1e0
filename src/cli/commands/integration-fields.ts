import { isJsonObject, type JsonObject } from '../../codec/json-object.ts'
import type { Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import type { Flag } from '../command/flag.ts'
import { UsageError } from '../terminal/errors.ts'

/** Flags of `integrations set` whose values are read from a file or concern a single item. */
export const integrationFlags: readonly Flag[] = [
  {
    name: 'jwks',
    kind: 'text',
    placeholder: 'file|url',
    summary: 'Keys that Canvas signs with: a JSON file, or an https URL (default the one of Canvas)',
  },
  {
    name: 'grade-item',
    kind: 'texts',
    placeholder: 'id=maximum',
    summary: 'Maximum of a grade item of the other system, such as 12=20; 12= removes it',
  },
]

/** Returns the parts of the body that these flags set. Throws a UsageError if they cannot be read. */
export async function integrationBody({ io }: Pick<Context, 'io'>, { flags }: Given): Promise<JsonObject> {
  return {
    ...(flags['jwks'] !== undefined && (await keySource(io, String(flags['jwks'])))),
    ...(Array.isArray(flags['grade-item']) && { gradeItems: itemsIn(flags['grade-item'].map(String)) }),
  }
}

async function keySource(io: Context['io'], source: string): Promise<JsonObject> {
  if (/^https?:\/\//i.test(source)) return { jwksUrl: source, jwks: null }
  const { readFileText } = await import('../terminal/text-input.ts')
  const text = await readFileText(io, source)
  let keys: unknown
  try {
    keys = JSON.parse(text)
  } catch (cause) {
    throw new UsageError(`Cannot read ${source}: it is not JSON`, { cause })
  }
  if (isJsonObject(keys) && Array.isArray(keys['keys'])) return { jwks: { keys: keys['keys'] } }
  throw new UsageError(`Cannot read ${source}: it is not a JSON Web Key Set, {"keys": […]}`)
}

function itemsIn(texts: readonly string[]): JsonObject {
  const items = texts.map((text) => {
    const [, id = '', maximum = ''] = /^(.+)=([^=]*)$/s.exec(text) ?? []
    if (id === '') throw new UsageError(`--grade-item must be <id>=<maximum>, not ${JSON.stringify(text)}`)
    if (maximum === '') return [id, null]
    const number = Number(maximum)
    if (Number.isFinite(number) && number > 0) return [id, { maximum: number }]
    throw new UsageError(`--grade-item ${id}= must be a number above 0, not ${JSON.stringify(maximum)}`)
  })
  return Object.fromEntries(items)
}
