import type { ChalkInstance } from 'chalk'
import type { Environment } from '../../config/directories.ts'
import type { Settings } from '../../config/resolve-settings.ts'
import type { ColourMode } from '../../config/setting.ts'

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
