import { UsageError } from '../terminal/errors.ts'
import type { Flag, Kinds } from './flag.ts'

/** How the value of each kind is shown in help. */
export const placeholders: Readonly<Record<keyof Kinds, string>> = {
  text: 'text',
  time: 'time',
  number: 'number',
  switch: '',
  texts: 'text',
  words: 'a,b',
  json: 'json|@file',
}

/** What stands for null in the place of a number that there may be none of. */
export const noneText = 'none'

/** The values of flags by their names, as far as they were given. */
export type FlagValues = Readonly<Record<string, unknown>>

/** True for a flag that may be given several times, each time with more. */
export function repeats({ kind }: Pick<Flag, 'kind'>): boolean {
  return kind === 'texts' || kind === 'words'
}

/** A flag's value from its text, after `previous` ones of the same flag. Throws a UsageError. */
export function parseFlag(flag: Flag, text: string, previous: unknown): unknown {
  const before = Array.isArray(previous) ? previous : []
  switch (flag.kind) {
    case 'number':
      // The parser of the command line takes no null for a value.
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

/** A finite decimal number, an integer that a number cannot hold exactly as a bigint. Throws as parseNumber does. */
export function parseExactNumber(text: string, name: string): number | bigint {
  const number = parseNumber(text, name)
  const exact = !Number.isInteger(number) || Number.isSafeInteger(number) || !/^[+-]?\d+$/.test(text)
  return exact ? number : BigInt(text.replace('+', ''))
}

/** A finite decimal number. Throws a UsageError that calls it `name`. */
export function parseNumber(text: string, name: string): number {
  const number = Number(text)
  if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) && Number.isFinite(number)) return number
  const near = text.replace(/%$/, '').replace(',', '.')
  const hint = near !== text && Number.isFinite(Number(near)) ? { hint: `${name} ${near}` } : {}
  throw new UsageError(`${name} must be a number, not ${JSON.stringify(text)}`, hint)
}
