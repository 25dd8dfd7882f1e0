import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import type { Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import type { Flag } from '../command/flag.ts'
import {
  clientSecret,
  readSecret,
  readsInput,
  type SecretInput,
  secretFlags,
} from '../command/secret-input.ts'
import type { Output } from '../output/output.ts'
import { UsageError } from '../terminal/errors.ts'

/** Flags of `integrations set` whose values are read from a file or concern a single item. */
export const integrationFlags: readonly Flag[] = [
  {
    name: 'jwks',
    kind: 'text',
    placeholder: 'file|url',
    file: 'read',
    summary: 'Keys that Canvas signs with: a JSON file, or an https URL (default the one of Canvas)',
  },
  {
    name: 'grade-item',
    kind: 'texts',
    placeholder: 'id=maximum',
    summary: 'Maximum of a grade item of the other system, such as 12=20; 12= removes it',
  },
]

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

const accessToken: SecretInput = { name: 'access-token', words: 'access token' }
const webhookSecret: SecretInput = { name: 'webhook-secret', words: 'webhook secret' }
const secretInputs = [accessToken, clientSecret, webhookSecret]
const oldSecret = 'old-webhook-secret'
const removable = [...secretInputs.map(({ name }) => name), oldSecret]
/** Time for which the previous webhook secret stays accepted. */
const overlapMs = 24 * 60 * 60 * 1000

export const integrationSecretFlags: readonly Flag[] = [
  ...secretInputs.flatMap(secretFlags),
  {
    name: 'generate-secret',
    kind: 'switch',
    summary: 'Generate a webhook secret, shown only once',
  },
  {
    name: 'remove-secret',
    kind: 'words',
    summary: 'Remove secrets',
    choices: removable,
  },
]

interface GivenSecrets {
  readonly body: JsonObject
  /** The generated secret, to be printed: no other system has it yet. */
  readonly generated: string | undefined
}

/** Reads the given secrets and generates the requested one. Throws a UsageError if both are for the same secret. */
export async function readSecrets(
  context: Pick<Context, 'io' | 'prompts'>,
  { flags }: Given,
): Promise<GivenSecrets> {
  const removed = Array.isArray(flags['remove-secret']) ? flags['remove-secret'].map(String) : []
  const unknown = removed.find((name) => !removable.includes(name))
  if (unknown !== undefined) {
    throw new UsageError(`--remove-secret must be ${removable.join(', ')}, not ${JSON.stringify(unknown)}`, {
      choice: { given: unknown, valid: removable },
    })
  }
  const fromBody = /^@?-$/.test(String(flags['body']))
  if ([fromBody, ...secretInputs.map((secret) => readsInput(flags, secret))].filter(Boolean).length > 1) {
    const names = secretInputs.map(({ name }) => `--${name}-stdin`)
    throw new UsageError(`Only one of --body -, ${names.join(' and ')} can read standard input`, {
      hint: `Put the other one into an environment variable, and name that with --${webhookSecret.name}-env`,
    })
  }
  const token = await readSecret(context, flags, accessToken)
  const client = await readSecret(context, flags, clientSecret)
  const given = await readSecret(context, flags, webhookSecret)
  if (flags['generate-secret'] === true && given !== undefined) {
    throw new UsageError('--generate-secret cannot be used with a webhook secret')
  }
  const generated = flags['generate-secret'] === true ? await newSecret() : undefined
  const secret = generated ?? given
  return {
    generated,
    body: {
      ...(removed.includes(accessToken.name) && { accessToken: null }),
      ...(removed.includes(clientSecret.name) && { clientSecret: null }),
      ...(removed.includes(webhookSecret.name) && { webhookSecrets: null }),
      ...(removed.includes(oldSecret) && { oldSecretEndsAt: null }),
      ...(token !== undefined && { accessToken: token }),
      ...(client !== undefined && { clientSecret: client }),
      ...(secret !== undefined && {
        webhookSecrets: [secret],
        // The other system keeps using the old secret until it is configured with the new one.
        oldSecretEndsAt: new Date(context.io.now() + overlapMs).toISOString(),
      }),
    },
  }
}

async function newSecret(): Promise<string> {
  const { newWebhookSecret } = await import('../../lms/secrets.ts')
  return newWebhookSecret()
}

/** Field in which a generated secret is printed. */
export const shownSecret = 'webhookSecret'

export function outputWith(output: Output, secret: string): Output {
  return {
    ...output,
    check: (shape, use) => output.check({ ...shape, paths: [...shape.paths, shownSecret] }, use),
    one: (value, shape) =>
      output.one(
        { ...(value as object), [shownSecret]: secret },
        { ...shape, table: [...shape.table, shownSecret], paths: [...shape.paths, shownSecret] },
      ),
  }
}
