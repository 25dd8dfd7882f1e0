/** A message for people, as plain text; each kind of chat formats and escapes it. */
export interface ChatMessage {
  readonly title: string
  readonly lines: readonly string[]
  /** URL of the dashboard; null if the server does not know its own address. */
  readonly link: string | null
}

/** Returns a value in one line, without characters that control the display. */
export function plainText(value: unknown): string {
  const line = String(value ?? '')
    .replace(/[\p{Cc}\s\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]+/gu, ' ')
    .trim()
  return line.length > maxTextLength ? `${line.slice(0, maxTextLength - 1).toWellFormed()}…` : line
}

/** Longest text of a field in a sentence. */
const maxTextLength = 200
