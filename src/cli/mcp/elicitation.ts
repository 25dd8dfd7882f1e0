import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'

/** Asks the user a question; true if they agree. */
export type Ask = (question: string) => Promise<boolean>

export interface CallParts {
  readonly signal: AbortSignal
  /** Null if the client cannot ask its user. */
  readonly ask: Ask | null
}

/** A call that ends with a question; the client sends it again with the answer (MCP 2026-07-28, basic/patterns/mrtr.mdx). */
export class InputRequired extends Error {
  override readonly name = 'InputRequired'
}

/** True for a client that can show a form (MCP 2026-07-28, client/elicitation.mdx § Capabilities). */
export function canElicit(capabilities: unknown): boolean {
  if (!isJsonObject(capabilities)) return false
  const { elicitation } = capabilities
  // Without a mode, a client can show forms.
  return isJsonObject(elicitation) && ('form' in elicitation || !('url' in elicitation))
}

/** Returns the parameters of a question that can be accepted or declined: a form without fields. */
export function elicitation(message: string): JsonObject {
  return { mode: 'form', message, requestedSchema: { type: 'object', properties: {} } }
}

export function isAccepted(result: unknown): boolean {
  return isJsonObject(result) && result['action'] === 'accept'
}
