import type { OutgoingRequest } from '../../client/call.ts'
import { escapeHidden } from '../../codec/display-text.ts'
import { jsonText, parseJson } from '../../codec/json-text.ts'
import type { Context } from '../command/context.ts'
import { maskHeaders, maskSecrets } from '../output/mask.ts'
import { secretMask } from '../terminal/format-text.ts'

/** Credentials and secrets are masked. */
export function showRequest(context: Context, request: OutgoingRequest): Promise<void> {
  return showRequests(context, [request])
}

/** Separated by empty lines as HTTP, or a list of values if `asList`. */
export async function showRequests(
  context: Context,
  requests: readonly OutgoingRequest[],
  asList = false,
): Promise<void> {
  const { settings, output } = context
  const shown = requests.map((request) => maskedRequestOf(context, request))
  if (['json', 'jsonl', 'yaml'].includes(settings.output.value)) {
    if (asList && settings.output.value !== 'jsonl') await output.document(shown)
    else for (const value of shown) await output.document(value)
    return
  }
  const texts = shown.map(({ method, url, headers, body }) => {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${escapeHidden(value)}`)
    const text = typeof body === 'string' || body === undefined ? body : jsonText(body, 2)
    return `${method} ${escapeHidden(url)}\n${lines.join('\n')}\n${text === undefined ? '' : `\n${text}\n`}`
  })
  await output.text(texts.join('\n'))
}

function maskedRequestOf({ session }: Context, { method, url, headers: given, body: text }: OutgoingRequest) {
  const target = session.target()
  const signed = target.kind === 'remote' && target.credential !== null
  const headers = maskHeaders(signed ? { authorization: `Bearer ${secretMask}`, ...given } : given)
  const body = text === undefined ? undefined : maskedBodyOf(text)
  return { method, url, headers, ...(body !== undefined && { body }) }
}

function maskedBodyOf(text: string): unknown {
  try {
    return maskSecrets(parseJson(text))
  } catch {
    return escapeHidden(text) // `learnctl api` may send what is not JSON; the server will say so.
  }
}
