import { parseAccept } from 'hono/utils/accept'

/**
 * Returns the client's preferred offer by its Accept or Accept-Encoding (RFC 9110 §12.5); undefined if it
 * accepts none. Ignores case. The most specific matching range decides the quality of an offer; equal ones
 * are ordered by specificity, then as offered.
 */
export function choosePreferred<Offer extends string>(
  header: string,
  offers: readonly Offer[],
): Offer | undefined {
  const ranges = parseAccept(header)
  const places = new Map<string, number>()
  for (const [place, { type }] of ranges.entries()) {
    const name = type.toLowerCase()
    if (!places.has(name)) places.set(name, place)
  }
  const worth = offers.flatMap((offer) => {
    const names = [offer, `${offer.split('/', 1)[0]}/*`, '*/*', '*']
    const vagueness = names.findIndex((name) => places.has(name))
    const place = places.get(names[vagueness] ?? '') ?? 0
    const q = vagueness < 0 ? 0 : (ranges[place]?.q ?? 0)
    return q > 0 ? [{ offer, q, vagueness }] : []
  })
  const [best] = worth.sort((a, b) => b.q - a.q || a.vagueness - b.vagueness)
  return best?.offer
}
