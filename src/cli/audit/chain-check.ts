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

/** What is about no user: of such entries no details are ever erased. */
const impersonal: readonly string[] = ['course', 'lesson', 'app', 'endpoint', 'integration', 'encryption_key']

/** Checks entries that come in the order of their places. */
export interface ChainCheck {
  take(entry: AuditEntry): void
  report(): ChainReport
}

/**
 * A check of an audit log, in memory for those users alone who were erased: everything is calculated from what the entries
 * show.
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
  /** Users who were erased, and those of whom something is gone, with the first entry that lacks it. */
  const erasedUsers = new Set<string>()
  const goneOf = new Map<string, Pick<AuditEntry, 'place' | 'id'>>()

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

  /** Only with a user may details and origins go: whoever takes them from other entries hides something. */
  function checkErased(entry: AuditEntry): void {
    const { place, id, action, noun, userId, subjectId, originSalt, detailsSalt } = entry
    if (action === 'user.erased' && subjectId !== null) {
      erasedUsers.add(subjectId)
      goneOf.delete(subjectId)
    }
    const note = (user: string) => {
      if (!erasedUsers.has(user) && !goneOf.has(user)) goneOf.set(user, { place, id })
    }
    if (originSalt === null) note(userId ?? subjectId ?? '')
    if (detailsSalt !== null) return
    if (impersonal.includes(noun)) tell(place, id, 'its details were removed, though it is about no user')
    else if (noun === 'user') note(subjectId ?? '')
  }

  /** All breaks, with those that only the end of the log shows. */
  function allBroken(): Pick<ChainReport, 'breaks' | 'broken'> {
    const removed = [...goneOf].map(([user, { place, id }]) => {
      const reason = `its details or address were removed, though user ${user} was not erased`
      return { place, id, reason }
    })
    return { breaks: [...breaks, ...removed].slice(0, mostBreaks), broken: broken + goneOf.size }
  }

  return {
    take(entry) {
      entries += 1
      from = from === null || entry.at < from ? entry.at : from
      to = to === null || entry.at > to ? entry.at : to
      const { place, id, originSalt, detailsSalt } = entry
      if (originSalt === null || detailsSalt === null) erased += 1
      checkErased(entry)
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
      ...{ entries, erased, unlinked, from, to },
      ...allBroken(),
      ...last,
      missing: [...wanted],
    }),
  }
}

function sha256(text: string): string {
  return hash('sha256', text, 'hex')
}
