import { UsageError } from '../terminal/errors.ts'
import type { Flag, Kinds } from './flag.ts'

/** Placeholders of values in help, by kind. */
export const placeholders: Readonly<Record<keyof Kinds, string>> = {
  text: 'text',
  time: 'time',
  number: 'number',
  switch: '',
  texts: 'text',
  words: 'a,b',
  json: 'json|@file',
}

/** Text for null as the value of a nullable number. */
export const noneText = 'none'

/** Values of the given flags by name. */
export type FlagValues = Readonly<Record<string, unknown>>

/** True for a flag that may be repeated. */
export function repeats({ kind }: Pick<Flag, 'kind'>): boolean {
  return kind === 'texts' || kind === 'words'
}

/** Parses a flag's text; `previous` holds the earlier values of a repeated flag. Throws a UsageError. */
export function parseFlag(flag: Flag, text: string, previous: unknown): unknown {
  const before = Array.isArray(previous) ? previous : []
  switch (flag.kind) {
    case 'number':
      // The command line parser does not accept null as a value.
      if (flag.none && text === noneText) return noneText
      return parseExactNumber(text, `--${flag.name}`)
    case 'texts':
      return [...before, text]
    case 'words':
      return [
        ...before,
        ...text
          .split(',')
          .map((word) => word.trim())
          .filter((word) => word !== ''),
      ]
    default:
      return text
  }
}

/**
 * Parses a finite decimal number; returns a bigint for an integer beyond the exact range of a number. Throws as
 * parseNumber does.
 */
export function parseExactNumber(text: string, name: string): number | bigint {
  const number = parseNumber(text, name)
  const exact = !Number.isInteger(number) || Number.isSafeInteger(number) || !/^[+-]?\d+$/.test(text)
  return exact ? number : BigInt(text.replace('+', ''))
}

/** Parses a finite decimal number. Throws a UsageError that calls it `name`. */
export function parseNumber(text: string, name: string): number {
  const number = Number(text)
  if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) && Number.isFinite(number)) return number
  const near = text.replace(/%$/, '').replace(',', '.')
  const hint = near !== text && Number.isFinite(Number(near)) ? { hint: `${name} ${near}` } : {}
  throw new UsageError(`${name} must be a number, not ${JSON.stringify(text)}`, hint)
}
