import type { ChalkInstance } from 'chalk'
import type { Environment } from '../../config/directories.ts'
import type { Settings } from '../../config/resolve-settings.ts'
import type { ColourMode } from '../../config/setting.ts'

/** A long term has a line of its own. */
export function twoColumns(rows: readonly (readonly [string, string])[], width = 80): string {
  const longest = Math.max(0, ...rows.map(([term]) => term.length))
  const indent = Math.min(longest, 30) + 4
  return rows
    .map(([term, meaning]) => {
      const lines = wrap(meaning, Math.max(width - indent, 24)).join(`\n${' '.repeat(indent)}`)
      const head = `  ${term}`
      const start = head.length + 2 > indent ? `${head}\n${' '.repeat(indent)}` : head.padEnd(indent)
      return `${start}${lines}\n`
    })
    .join('')
}

/** Wraps between words; `measure` returns the width of a part. */
export function wrap(text: string, width: number, measure?: (part: string) => number): string[] {
  return wrapWords(text.split(' '), width, measure)
}

export function wrapWords(
  words: readonly string[],
  width: number,
  measure = (part: string) => part.length,
): string[] {
  const lines: string[] = []
  for (const word of words) {
    const last = lines.at(-1)
    if (last !== undefined && measure(last) + 1 + measure(word) <= width)
      lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}

/** `1 lesson`, `12 lessons`; `10,000+ lessons` if there may be more. */
export function pluralise(count: number, noun: string, isExact = true): string {
  const shown = isExact ? count : `${count.toLocaleString('en')}+`
  const several = noun.endsWith('ry') ? `${noun.slice(0, -1)}ies` : `${noun}s`
  return `${shown} ${count === 1 && isExact ? noun : several}`
}

/** Returns the first of some lines, and a last one that counts the others: `and 3 more`. */
export function firstLines(lines: readonly string[], most = 20, ending = ''): string[] {
  const more = lines.length - most
  return more > 0 ? [...lines.slice(0, most), `and ${more} more${ending}`] : [...lines]
}

/** `Waves, Tides and 3 more`. */
export function firstNames(names: readonly string[], most = 10): string {
  const more = names.length - most
  return `${names.slice(0, most).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

export function capitalise(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}

export const secretMask = '***'

/** Masks secrets in a text: as they are, as JSON writes them, and as URLs encode them. */
export function maskSecretsInText(text: string, secrets: readonly string[]): string {
  // A shorter secret may be part of other words.
  const known = secrets.filter((secret) => secret.length >= 4)
  const written = known.flatMap((secret) => [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
  ])
  return written.reduce((rest, each) => rest.replaceAll(each, secretMask), text)
}

/** Colours of a terminal: 0 none, 1 sixteen, 2 256, 3 all. */
type ColourLevel = 0 | 1 | 2 | 3

/**
 * Returns the colours for a stream: by `--color`, then NO_COLOR (no-color.org), then FORCE_COLOR or
 * CLICOLOR_FORCE, then TERM=dumb, then whether it is a terminal.
 */
export function colourLevel(stream: { isTTY?: boolean }, env: Environment, mode: ColourMode): ColourLevel {
  if (mode !== 'auto') return mode === 'never' ? 0 : terminalLevel(env)
  if (env['NO_COLOR']) return 0
  const forced = env['FORCE_COLOR'] || env['CLICOLOR_FORCE']
  if (forced) return /^(0|false)$/i.test(forced) ? 0 : terminalLevel(env)
  if (env['TERM'] === 'dumb' || env['CLICOLOR'] === '0') return 0
  return stream.isTTY ? terminalLevel(env) : 0
}

function terminalLevel(env: Environment): ColourLevel {
  if (/^(truecolor|24bit)$/.test(env['COLORTERM'] ?? '')) return 3
  return /256/.test(env['TERM'] ?? '') ? 2 : 1
}

export async function createPainter(level: ColourLevel): Promise<ChalkInstance> {
  const { Chalk } = await import('chalk')
  return new Chalk({ level })
}

export function createPainterFor(
  stream: { isTTY?: boolean },
  { env }: { readonly env: Environment },
  { color }: Pick<Settings, 'color'>,
): Promise<ChalkInstance> {
  return createPainter(colourLevel(stream, env, color.value))
}
