import { SettingError } from './errors.ts'
import { colourModes, formats, type Kind, type Kinds, type Setting } from './setting.ts'

type Parser<Value> = (text: string, name: string, setting: Setting) => Value

const parsers: { readonly [K in Kind]: Parser<Kinds[K]> } = {
  text: (text) => text,
  names: (text, name) => {
    const names = text.split(',').map((item) => item.trim())
    if (names.includes(''))
      throw new SettingError(`${name} must be a list such as id,title, not ${quote(text)}`)
    return names
  },
  format: (text, name) => choose(text, name, formats),
  colour: (text, name) => choose(text, name, colourModes),
  count: (text, name, { minimum = 0 }) => {
    const count = Number(text)
    if (/^\d{1,9}$/.test(text) && count >= minimum) return count
    throw new SettingError(`${name} must be a whole number, ${minimum} or more, not ${quote(text)}`)
  },
  duration: (text, name) => parseDuration(text, name),
  switch: (text, name) => {
    if (/^(1|true|yes|on)$/i.test(text)) return true
    if (/^(0|false|no|off)$/i.test(text)) return false
    throw new SettingError(`${name} must be true or false, not ${quote(text)}`)
  },
}

const msOfUnit: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }
// A longer timeout overflows the timer, which then fires at once.
const maxDurationMs = 24 * 3_600_000

/**
 * Parses a duration with its unit, `500ms`, `30s`, `2m` or `1h`, to milliseconds. Throws a SettingError that
 * names the setting `name`.
 */
export function parseDuration(text: string, name: string): number {
  const [, number = '', unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text) ?? []
  const durationMs = Math.round(Number(number) * (msOfUnit[unit] ?? 0))
  if (number !== '' && durationMs > 0 && durationMs <= maxDurationMs) return durationMs
  const hint = /^\d+$/.test(text) ? `Add a unit: ${text}s or ${text}ms` : undefined
  throw new SettingError(
    `${name} must be a duration such as 500ms, 30s or 2m (at most 24h), not ${quote(text)}`,
    hint ? { hint } : {},
  )
}

/** Parses the text of a setting. Throws a SettingError that names the setting `name`. */
export function parseSetting(text: string, name: string, setting: Setting): Kinds[Kind] {
  return parsers[setting.kind](text, name, setting)
}

function choose<Choice extends string>(text: string, name: string, valid: readonly Choice[]): Choice {
  const chosen = valid.find((choice) => choice === text)
  if (chosen) return chosen
  throw new SettingError(`${name} must be one of ${valid.join(', ')}, not ${quote(text)}`, {
    choice: { given: text, valid },
  })
}

function quote(text: string): string {
  return JSON.stringify(text)
}
