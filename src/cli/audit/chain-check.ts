import { hash } from 'node:crypto'
import type { AuditEntry } from '../../contract/audit.ts'
import { detailsText, firstHash, linkText, originText } from '../../contract/audit-chain.ts'

/** An entry that is not as its hash says, or is not there. */
export interface Break {
  readonly place: number | null
  readonly id: string | null
  readonly reason: string
}

/** What an audit log turned out to be; times are ISO 8601 in UTC. */
export interface ChainReport {
  readonly entries: number
  /** Entries whose details, or origin, were erased with a user. */
  readonly erased: number
  /** Entries that are not linked yet. */
  readonly unlinked: number
  readonly from: string | null
  readonly to: string | null
  /** Those that were found first; `broken` counts all of them. */
  readonly breaks: readonly Break[]
  readonly broken: number
  /** The place of the last entry, and its hash. */
  readonly place: number
  readonly hash: string
  /** Hashes that were to be there, and are not. */
  readonly missing: readonly string[]
}

/** Breaks that are told. */
const mostBreaks = 10

/** Checks entries that come in the order of their places. */
export interface ChainCheck {
  take(entry: AuditEntry): void
  report(): ChainReport
}

/**
 * A check of an audit log, in bounded memory: everything is calculated from what the entries show.
 *
 * @param expected hashes that some entry is to have
 */
export function chainCheck(expected: readonly string[]): ChainCheck {
  const wanted = new Set(expected.map((text) => text.toLowerCase()))
  const breaks: Break[] = []
  let [entries, erased, unlinked, broken] = [0, 0, 0, 0]
  let from: string | null = null
  let to: string | null = null
  let last = { place: 0, hash: firstHash }
  wanted.delete(last.hash)

  function tell(place: number | null, id: string | null, reason: string): void {
    broken += 1
    if (breaks.length < mostBreaks) breaks.push({ place, id, reason })
  }

  function link(entry: AuditEntry, place: number): void {
    const expectedPlace = last.place + 1
    if (place > expectedPlace) {
      const gone = place - expectedPlace
      const which = gone === 1 ? `Entry ${expectedPlace} is` : `Entries ${expectedPlace} to ${place - 1} are`
      tell(gone === 1 ? expectedPlace : null, null, `${which} missing`)
    } else if (place < expectedPlace) tell(place, entry.id, 'its place was taken before')
    // Behind a gap, nothing says what the hash was made with.
    else if (sha256(linkText(last.hash, { ...entry, place })) !== entry.hash) {
      tell(place, entry.id, 'its hash does not match: it, or the order of entries, was changed')
    }
    last = { place, hash: String(entry.hash) }
    wanted.delete(last.hash)
  }

  return {
    take(entry) {
      entries += 1
      from = from === null || entry.at < from ? entry.at : from
      to = to === null || entry.at > to ? entry.at : to
      const { place, id, originSalt, detailsSalt } = entry
      if (originSalt === null || detailsSalt === null) erased += 1
      if (originSalt !== null && sha256(originText(entry)) !== entry.originDigest) {
        tell(place, id, 'its address or user agent was changed')
      }
      if (detailsSalt !== null && sha256(detailsText(entry)) !== entry.detailsDigest) {
        tell(place, id, 'its details were changed')
      }
      if (place === null) unlinked += 1
      else link(entry, place)
    },
    report: () => ({
      ...{ entries, erased, unlinked, from, to, breaks, broken },
      ...last,
      missing: [...wanted],
    }),
  }
}

function sha256(text: string): string {
  return hash('sha256', text, 'hex')
}
