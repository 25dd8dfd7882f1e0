import type { JsonObject } from '../../codec/json-object.ts'
import type { Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import type { Flag } from '../command/flag.ts'
import { readSecret, readsInput, type SecretInput, secretFlags } from '../command/secret-input.ts'
import type { Output } from '../output/output.ts'
import { UsageError } from '../terminal/errors.ts'

const accessToken: SecretInput = { name: 'access-token', words: 'access token' }
const webhookSecret: SecretInput = { name: 'webhook-secret', words: 'webhook secret' }
const both = [accessToken, webhookSecret]
const oldSecret = 'old-webhook-secret'
const removable = [...both.map(({ name }) => name), oldSecret]
const overlapMs = 24 * 60 * 60 * 1000

/** The flags that give an integration its secrets. */
export const integrationSecretFlags: readonly Flag[] = [
  ...both.flatMap(secretFlags),
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

/** The secrets of an integration from the flags. */
export interface GivenSecrets {
  /** For the body of the request. */
  readonly body: JsonObject
  /** The generated secret, to be printed: no other system has it yet. */
  readonly generated: string | undefined
}

/** Reads the given secrets and generates the requested one. Throws a UsageError if both are for the same secret. */
export async function givenSecrets(
  context: Pick<Context, 'io' | 'prompts'>,
  { flags }: Given,
): Promise<GivenSecrets> {
  const removed = Array.isArray(flags['remove-secret']) ? flags['remove-secret'].map(String) : []
  const odd = removed.find((name) => !removable.includes(name))
  if (odd !== undefined) {
    throw new UsageError(`--remove-secret must be ${removable.join(', ')}, not ${JSON.stringify(odd)}`, {
      choice: { given: odd, valid: removable },
    })
  }
  const fromBody = /^@?-$/.test(String(flags['body']))
  if ([fromBody, ...both.map((secret) => readsInput(flags, secret))].filter(Boolean).length > 1) {
    const names = both.map(({ name }) => `--${name}-stdin`)
    throw new UsageError(`Only one of --body -, ${names.join(' and ')} can read standard input`, {
      hint: `Put the other one into an environment variable, and name that with --${webhookSecret.name}-env`,
    })
  }
  const token = await readSecret(context, flags, accessToken)
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
      ...(removed.includes(webhookSecret.name) && { webhookSecrets: null }),
      ...(removed.includes(oldSecret) && { oldSecretEndsAt: null }),
      ...(token !== undefined && { accessToken: token }),
      ...(secret !== undefined && {
        webhookSecrets: [secret],
        // The other system keeps using the old secret until it is configured with the new one.
        oldSecretEndsAt: new Date(context.io.now() + overlapMs).toISOString(),
      }),
    },
  }
}

async function newSecret(): Promise<string> {
  const { newWebhookSecret } = await import('../../lms/set-up.ts')
  return newWebhookSecret()
}

/** Field in which a generated secret is printed. */
export const shownSecret = 'webhookSecret'

/** Returns an output that prints the secret with its record. */
export function outputWith(output: Output, secret: string): Output {
  return {
    ...output,
    check: (shape, open) => output.check({ ...shape, paths: [...shape.paths, shownSecret] }, open),
    one: (value, shape) =>
      output.one(
        { ...(value as object), [shownSecret]: secret },
        { ...shape, table: [...shape.table, shownSecret], paths: [...shape.paths, shownSecret] },
      ),
  }
}
