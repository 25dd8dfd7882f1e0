import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { isJsonObject, type JsonObject, parseJsonOrNull } from '../../codec/json-text.ts'
import type { SigningMaterial } from '../../lms/delivery.ts'
import type { Context } from '../command/context.ts'
import type { FlagValues } from '../command/flag.ts'
import { readSecret, webhookSecret } from '../command/secret-input.ts'
import { UsageError } from '../terminal/errors.ts'
import { readFileText } from '../terminal/text-input.ts'

export const secretVariable = 'LEARNCTL_WEBHOOK_SECRET'

/**
 * Reads what signs the deliveries: the private key of `--signing-key`, else the webhook secret from standard
 * input, the environment or a prompt. Throws a UsageError without any.
 */
export async function signingMaterial(
  { io, prompts }: Pick<Context, 'io' | 'prompts'>,
  flags: FlagValues,
): Promise<SigningMaterial['secret']> {
  const file = flags['signing-key']
  if (typeof file === 'string') return { privateKey: privateKeyIn(file, await readFileText(io, file)) }
  const secret = (await readSecret({ io, prompts }, flags, webhookSecret)) ?? io.env[secretVariable]
  if (secret) return secret
  if (prompts.refusal === null) return prompts.secret('Webhook secret:', (text) => text !== '' || 'Required')
  throw new UsageError('The webhook secret is required', {
    why: [prompts.refusal],
    hint: `Set ${secretVariable}, or use --${webhookSecret.name}-stdin`,
  })
}

function privateKeyIn(file: string, text: string): JsonObject {
  const key = parseJsonOrNull(text)
  if (
    isJsonObject(key) &&
    key['kty'] === 'RSA' &&
    typeof key['d'] === 'string' &&
    typeof key['kid'] === 'string'
  ) {
    return key
  }
  throw new UsageError(`${file} is not a private RSA key with a kid as JWK (RFC 7517)`, {
    hint: 'Create one: learnctl webhooks generate-key',
  })
}

/** Generates a key pair like Canvas's: RSA with 2048 bits for RS256 (RFC 7518 §3.3), both as JSON. */
export function newSigningKey(): {
  readonly kid: string
  /** A JWK (RFC 7517). */
  readonly privateKey: string
  /** A JWKS (RFC 7517 §5). */
  readonly keySet: string
} {
  const kid = `test-${randomBytes(6).toString('hex')}`
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const facts = { kid, alg: 'RS256', use: 'sig' }
  return {
    kid,
    privateKey: JSON.stringify({ ...privateKey.export({ format: 'jwk' }), ...facts }, null, 2),
    keySet: JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), ...facts }] }, null, 2),
  }
}
