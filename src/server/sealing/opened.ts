import type { Sealing } from './sealing.ts'

const openedForMs = 1000
/** As many secrets are kept at a time, each of them short. */
const mostOpened = 100

/**
 * Opens secrets, and keeps each for a second: the key that opens them is in a file, which takes time. Throws what
 * `Sealing.open` throws; that a secret cannot be opened is not kept.
 *
 * @param now the time by which a second has passed
 */
export function openedOf(sealing: Pick<Sealing, 'open'>, now: () => Date): Pick<Sealing, 'open'> {
  const opened = new Map<string, { readonly secret: string; readonly atMs: number }>()
  return {
    open(place, sealed) {
      const [name, atMs] = [`${place} ${sealed}`, now().getTime()]
      const known = opened.get(name)
      if (known && Math.abs(atMs - known.atMs) < openedForMs) return known.secret
      const secret = sealing.open(place, sealed)
      if (opened.size >= mostOpened) opened.clear()
      opened.set(name, { secret, atMs })
      return secret
    },
  }
}
