import type { OutgoingRequest } from '../../client/call-input.ts'
import { jsonText, parseJson } from '../../codec/json-text.ts'
import type { Context } from '../command/context.ts'
import { maskHeaders, maskSecrets } from '../output/mask.ts'
import { masked } from '../terminal/mask-known.ts'
import { visible } from '../terminal/visible.ts'

/**
 * Prints the request that would be sent, every credential and secret in it masked: as HTTP, or as a value under
 * `-o json|jsonl|yaml`.
 */
export async function showRequest(context: Context, request: OutgoingRequest): Promise<void> {
  const { settings, session, output } = context
  const target = session.target()
  const signed = target.kind === 'remote' && target.credential !== null
  const headers = maskHeaders(
    signed ? { authorization: `Bearer ${masked}`, ...request.headers } : request.headers,
  )
  const { method, url } = request
  const body = request.body === undefined ? undefined : bodyOf(request.body)
  if (['json', 'jsonl', 'yaml'].includes(settings.output.value)) {
    const value = { method, url, headers, ...(body !== undefined && { body }) }
    await output.document(value)
    return
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${visible(value)}`)
  const text = typeof body === 'string' || body === undefined ? body : jsonText(body, 2)
  await output.text(
    `${method} ${visible(url)}\n${lines.join('\n')}\n${text === undefined ? '' : `\n${text}\n`}`,
  )
}

function bodyOf(text: string): unknown {
  try {
    return maskSecrets(parseJson(text))
  } catch {
    return visible(text) // `learnctl api` may send what is not JSON; the server will say so.
  }
}
