import { visible } from '../../codec/visible.ts'
import { maskHeaders } from './mask.ts'

/** The head of a response as lines: the status and every header, with those that carry a secret masked. */
export function httpHead(head: {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
}): string[] {
  const headers = Object.entries(maskHeaders(head.headers))
  return [`HTTP ${head.status}`, ...headers.map(([name, value]) => visible(`${name}: ${value}`))]
}
