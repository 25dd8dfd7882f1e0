import { jsonText } from '../../codec/json-text.ts'
import { parseReference } from '../../codec/reference.ts'

/** Returns whether two ids are equal; null if one is a name, or only one is a number. */
export function sameReference(sent: unknown, shown: unknown): boolean | null {
  if (!isScalar(sent) || !isScalar(shown)) return null
  const [one, other] = [String(sent), String(shown)]
  if (one === other) return true
  if (parseReference(one).by !== 'id') return null
  const areNumbers = [one, other].map((text) => /^\d+$/.test(text))
  return areNumbers[0] === areNumbers[1] ? false : null
}

/** Returns whether two values mean the same; null if that cannot be decided. */
export function verdictOn(sent: unknown, shown: unknown): boolean | null {
  if (Array.isArray(sent)) {
    if (!Array.isArray(shown) || ![...sent, ...shown].every(isScalar)) return null
    const has = new Set(shown.map(plain))
    return has.size === new Set(sent.map(plain)).size && sent.every((each) => has.has(plain(each)))
  }
  if (!isScalar(sent) || !isScalar(shown)) return null
  if (plain(sent) === plain(shown)) return true
  if (typeof sent === 'boolean') return truth(shown) === null ? null : truth(shown) === sent
  if (typeof sent !== 'string') {
    const number = typeof shown === 'boolean' || plain(shown) === '' ? Number.NaN : Number(shown)
    return Number.isNaN(number) ? null : number === Number(sent)
  }
  // The platform may use a number in place of a word.
  if (typeof shown !== 'string') return null
  const [time, other] = [timeOf(sent), timeOf(shown)]
  // A time without a zone may differ by the offset.
  if (time !== null && other !== null && Math.abs(time - other) < dayMs) return true
  return doneWords.test(shown) ? null : false
}

const dayMs = 24 * 60 * 60 * 1000
/** Values of `status` about the call, not the record. */
const doneWords = /^(ok|success|successful|succeeded|done|created|updated)$/i

/** Returns a time in milliseconds since 1970; null for text that does not begin with a date. */
export function timeOf(value: unknown): number | null {
  const ms = typeof value === 'string' && /^\d{4}-\d\d-\d\d/.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(ms) ? null : ms
}

function isScalar(value: unknown): value is string | number | bigint | boolean {
  return ['string', 'number', 'bigint', 'boolean'].includes(typeof value)
}

function truth(value: unknown): boolean | null {
  return /^(true|1|yes|on)$/i.test(String(value))
    ? true
    : /^(false|0|no|off)$/i.test(String(value))
      ? false
      : null
}

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  '#39': "'",
  '#039': "'",
}

/** Returns text without case, markup and outer spaces, which platforms change without changing the meaning. */
export function plain(value: unknown): string {
  const text = String(value).replace(/<\/?[a-z][^<>]{0,200}>/gi, '')
  return text
    .replace(/&(amp|lt|gt|quot|#0?39);/g, (entity, name: string) => entities[name] ?? entity)
    .normalize('NFC')
    .trim()
    .toLowerCase()
}

/** Returns a value in short form, for a message. */
export function short(value: unknown): string {
  const text = typeof value === 'bigint' ? String(value) : jsonText(value)
  return text.length > 80 ? `${text.slice(0, 79)}…` : text
}
