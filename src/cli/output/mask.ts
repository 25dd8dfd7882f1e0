import { isJsonObject } from '../../codec/json-object.ts'
import { masked, maskKnown } from '../terminal/mask-known.ts'

// By name, not by schema: `learnctl api` sends bodies that no schema describes.
const secretField = /^(key|api_?key|(current|new)?_?password|.*(secret|token)s?)$/i

/** The value with every secret in it masked: passwords, keys, tokens, by the names of their fields. */
export function maskSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(maskSecrets)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      secretField.test(name) && member !== null ? masked : maskSecrets(member),
    ]),
  )
}

/** The beginning and end of a credential, enough to tell two apart: `lpk_***aB3x`; short ones whole masked. */
export function maskCredential(value: string): string {
  const prefix = /^lp[a-z]_/.exec(value)?.[0] ?? ''
  return value.length >= 24 ? `${prefix}${masked}${value.slice(-4)}` : masked
}

const credentialsInText: readonly RegExp[] = [
  /\blp[a-z]_\w+/g,
  /\bBearer\s+[^\s"',]+/gi,
  /\beyJ[\w-]+\.[\w-]+\.[\w-]*/g,
  /(?<=:\/\/)[^\s/@]+(?=@)/g,
  /(?<=\b(?:\w*(?:password|secret|token)|api_?key)["']?\s*[:=]\s*["']?)[^\s"',;}]+/gi,
]

const secretHeader = /^((proxy-)?authorization|(set-)?cookie|x-.*(key|token|secret).*)$/i

/** The headers with the value of each that carries a secret masked, but for the scheme of a credential. */
export function maskHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      secretHeader.test(name) ? value.replace(/^(\w+ )?.*$/s, `$1${masked}`) : value,
    ]),
  )
}

/** A text with what looks like a credential in it masked, and each of `secrets` wherever it stands. */
export function maskText(text: string, secrets: readonly string[]): string {
  const without = maskKnown(text, secrets)
  return credentialsInText.reduce((rest, pattern) => rest.replace(pattern, masked), without)
}
