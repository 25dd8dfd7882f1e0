import type { ClientIdentity, SecretPlace } from '../../auth/client-authentication.ts'
import { assertAddress } from '../../config/target.ts'
import { ownClientId } from '../../contract/oauth.ts'
import type { Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import type { FlagValues } from '../command/flag.ts'
import { UsageError } from '../terminal/errors.ts'
import { readInput } from '../terminal/text-input.ts'

const secretVariable = 'LEARNCTL_CLIENT_SECRET'
/** The values of --client-auth. */
const secretPlaces: Readonly<Record<string, SecretPlace>> = { basic: 'header', post: 'form' }

/** The OAuth client and its options. */
export interface OAuthClient {
  readonly identity: ClientIdentity
  /** Scopes to request; null for the default ones. */
  readonly scopes: readonly string[] | null
  readonly redirectUri: string | null
  readonly tokenUrl: string | null
  /** Where to send the client secret; null to find out. */
  readonly secretPlace: SecretPlace | null
}

/** Reads the flags of an OAuth sign-in, and the client secret. Throws a UsageError or a SettingError. */
export async function oauthClient(context: Context, { flags }: Given): Promise<OAuthClient> {
  const id = textOf(flags, 'client-id') ?? ownClientId
  if (!/^[\x20-\x7e]{1,255}$/.test(id))
    throw new UsageError('Invalid --client-id: must be 1 to 255 printable ASCII characters')
  const tokenUrl = textOf(flags, 'token-url')
  if (tokenUrl !== null) assertAddress(tokenUrl, '--token-url')
  const scopes = scopesOf(flags)
  const redirectUri = redirectUriOf(flags)
  const way = textOf(flags, 'client-auth')
  if (way === 'none' && flags['client-secret-stdin'] === true)
    throw new UsageError('--client-auth none and --client-secret-stdin cannot be used together')
  const secret = way === 'none' ? null : await secretOf(context, flags)
  if (secret !== null && textOf(flags, 'client-id') === null) {
    const given = flags['client-secret-stdin'] === true ? '--client-secret-stdin' : secretVariable
    throw new UsageError(`${given} requires --client-id: ${ownClientId} itself has no secret`)
  }
  const secretPlace = secretPlaces[way ?? ''] ?? null
  if (secret === null && secretPlace !== null) {
    throw new UsageError(`--client-auth ${way} requires a client secret`, {
      hint: `--client-secret-stdin < secret.txt, or ${secretVariable}`,
    })
  }
  return { identity: { id, secret }, scopes, redirectUri, tokenUrl, secretPlace }
}

function scopesOf(flags: FlagValues): readonly string[] | null {
  const given = flags['scopes']
  // The value of this flag is a list of texts.
  const words = (given as readonly string[] | undefined)?.flatMap((text) => text.split(/\s+/))
  if (words === undefined) return null
  const scopes = [...new Set(words.filter((word) => word !== ''))]
  // RFC 6749 §3.3: valid characters of a scope.
  const wrong = scopes.find((scope) => !/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope))
  if (wrong !== undefined) throw new UsageError(`Invalid scope ${JSON.stringify(wrong)}`)
  if (scopes.length === 0) throw new UsageError('--scopes is empty', { hint: '--scopes "read write"' })
  return scopes
}

/** Returns the redirect URI, which must lead to this machine (RFC 8252 §7.3). */
function redirectUriOf(flags: FlagValues): string | null {
  const text = textOf(flags, 'redirect-uri')
  if (text === null) return null
  const url = URL.canParse(text) ? new URL(text) : null
  const hosts = ['127.0.0.1', '[::1]', 'localhost']
  const plain = url && !url.username && !url.password && !text.includes('?') && !text.includes('#')
  if (url?.protocol === 'http:' && hosts.includes(url.hostname) && plain) return text
  throw new UsageError(`Invalid --redirect-uri ${JSON.stringify(text)}`, {
    why: ['Must be an http URL on 127.0.0.1, [::1] or localhost, without a query'],
    hint: '--redirect-uri http://127.0.0.1:8976/callback',
  })
}

async function secretOf({ io, prompts }: Context, flags: FlagValues): Promise<string | null> {
  if (flags['client-secret-stdin'] !== true) return io.env[secretVariable] || null
  const text = io.stdin.isTTY ? await prompts.secret('Client secret:') : await readInput(io)
  const secret = text.trim()
  if (secret === '') throw new UsageError('No client secret on standard input')
  if (!/^[\x20-\x7e]{1,4096}$/.test(secret)) {
    throw new UsageError('Invalid client secret: it contains line breaks or characters that are not ASCII')
  }
  return secret
}

function textOf(flags: FlagValues, name: string): string | null {
  const value = flags[name]
  return typeof value === 'string' ? value.trim() : null
}
