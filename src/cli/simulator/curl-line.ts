import { shellWord } from '../../codec/shell-word.ts'
import type { SignedDelivery } from '../../webhooks/delivery.ts'
import { secretVariable } from './signing-material.ts'

/** A delivery as a command line of curl that takes the secret, where it goes along, from the environment. */
export function curlLine(
  url: string,
  { headers, query, body }: SignedDelivery,
  secret: string | null,
): string {
  const words = [
    ...['curl', '-X', 'POST', urlWord(url, query, secret)],
    ...Object.entries(headers).flatMap(([name, value]) => ['-H', shellWord(`${name}: ${value}`)]),
    ...[
      '--data-binary',
      secret === null ? shellWord(body) : withoutSecret(body, JSON.stringify(secret).slice(1, -1)),
    ],
  ]
  return words.join(' ')
}

function urlWord(url: string, query: SignedDelivery['query'], secret: string | null): string {
  const search = new URLSearchParams(query).toString()
  const whole = search === '' ? url : `${url}?${search}`
  if (secret === null) return shellWord(whole)
  return withoutSecret(whole, new URLSearchParams([['', secret]]).toString().slice(1))
}

/** A word of a shell in which a variable stands for the secret, as it is written there. */
function withoutSecret(text: string, written: string): string {
  return text
    .split(written)
    .map((part) => (part === '' ? '' : shellWord(part)))
    .join(`"$${secretVariable}"`)
}
