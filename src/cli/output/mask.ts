import { escapeHidden } from '../../codec/display-text.ts'
import { isJsonObject } from '../../codec/json-text.ts'
import { maskSecretsInText, secretMask } from '../terminal/format-text.ts'

// Fields are recognised by name: `learnctl api` sends bodies without a schema.
const secretField = /^(key|api_?key|(current|new)?_?password|secret_?path|.*(secret|token)s?)$/i

/** By the names of fields. */
export function maskSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(maskSecrets)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      secretField.test(name) && member !== null ? secretMask : maskSecrets(member),
    ]),
  )
}

/** Keeps the beginning and end, to tell two apart: `lpk_***aB3x`. Masks a short one completely. */
export function maskCredential(value: string): string {
  const prefix = /^lp[a-z]_/.exec(value)?.[0] ?? ''
  return value.length >= 24 ? `${prefix}${secretMask}${value.slice(-4)}` : secretMask
}

const credentialsInText: readonly RegExp[] = [
  /\blp[a-z]_\w+/g,
  /\bBearer\s+[^\s"',]+/gi,
  /\beyJ[\w-]+\.[\w-]+\.[\w-]*/g,
  /(?<=:\/\/)[^\s/@]+(?=@)/g,
  /(?<=\b(?:\w*(?:password|secret|token)|api_?key)["']?\s*[:=]\s*["']?)[^\s"',;}]+/gi,
]

const secretHeader = /^((proxy-)?authorization|(set-)?cookie|x-.*(key|token|secret).*)$/i

/** Keeps the scheme of a credential. */
export function maskHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      secretHeader.test(name) ? value.replace(/^(\w+ )?.*$/s, `$1${secretMask}`) : value,
    ]),
  )
}

/** Masks each of `secrets` in a text, and whatever looks like a credential. */
export function maskText(text: string, secrets: readonly string[]): string {
  const without = maskSecretsInText(text, secrets)
  return credentialsInText.reduce((rest, pattern) => rest.replace(pattern, secretMask), without)
}

export function httpHead(head: {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
}): string[] {
  const headers = Object.entries(maskHeaders(head.headers))
  return [`HTTP ${head.status}`, ...headers.map(([name, value]) => escapeHidden(`${name}: ${value}`))]
}
