import { createHash, hash } from 'node:crypto'
import type { AuditEntry } from '../../contract/audit.ts'
import {
  aboutLine,
  detailsText,
  firstHash,
  formerLinkText,
  linkText,
  originText,
} from '../../contract/audit-chain.ts'

/** An entry that does not match its hash, or is missing. */
export interface ChainBreak {
  readonly place: number | null
  readonly id: string | null
  readonly reason: string
}

/** Result of the check; times are ISO 8601 in UTC. */
export interface ChainReport {
  readonly entries: number
  /** Entries whose details or origin were erased with a user. */
  readonly erased: number
  /** Entries that are not linked yet. */
  readonly unlinked: number
  readonly from: string | null
  readonly to: string | null
  /** The first breaks; `broken` counts all. */
  readonly breaks: readonly ChainBreak[]
  readonly broken: number
  /** Position and hash of the last entry. */
  readonly place: number
  readonly hash: string
  /** Expected hashes that were not found. */
  readonly missing: readonly string[]
}

/** Maximum breaks to report. */
const maxBreaks = 10

/** Checks entries in the order of their places. */
export interface ChainCheck {
  add(entry: AuditEntry): void
  report(): ChainReport
}

/** The rule by which entries are linked: up to `audit_log.upgraded` that of an earlier version. */
type Rule = 'former' | 'present'

/** An entry without its details or origin, and the users whose erasure may explain that. */
interface ErasedEntry {
  readonly users: readonly string[]
  readonly place: number | null
  readonly id: string
}

/**
 * Creates a check of an audit log, which calculates everything from the entries. Keeps only users with erased
 * data in memory.
 *
 * @param expected hashes that must occur
 */
export function createChainCheck(expected: readonly string[]): ChainCheck {
  const wanted = new Set(expected.map((text) => text.toLowerCase()))
  const breaks: ChainBreak[] = []
  let [entries, erased, unlinked, broken] = [0, 0, 0, 0]
  let from: string | null = null
  let to: string | null = null
  let last = { place: 0, hash: firstHash }
  wanted.delete(last.hash)
  /** Set by the first entry with a correct hash. */
  let rule: Rule | undefined
  const formerAbout = createHash('sha256')
  const erasedTracker = createErasedTracker()

  function report(place: number | null, id: string | null, reason: string): void {
    broken += 1
    if (breaks.length < maxBreaks) breaks.push({ place, id, reason })
  }

  function link(entry: AuditEntry, place: number): void {
    const expectedPlace = last.place + 1
    if (place > expectedPlace) {
      const lost = place - expectedPlace
      const which = lost === 1 ? `Entry ${expectedPlace} is` : `Entries ${expectedPlace} to ${place - 1} are`
      report(lost === 1 ? expectedPlace : null, null, `${which} missing`)
    } else if (place < expectedPlace) report(place, entry.id, 'its place was taken before')
    // After a gap, the previous hash is unknown.
    else checkHash(entry, place)
    if (rule !== 'present') formerAbout.update(aboutLine({ ...entry, place }))
    last = { place, hash: String(entry.hash) }
    wanted.delete(last.hash)
  }

  function checkHash(entry: AuditEntry, place: number): void {
    const linked = { ...entry, place }
    if (sha256(linkText(last.hash, linked)) === entry.hash) {
      if (place > 1 && rule !== 'present') checkUpgrade(entry, place)
      rule = 'present'
    } else if (rule !== 'present' && sha256(formerLinkText(last.hash, linked)) === entry.hash) rule = 'former'
    else report(place, entry.id, 'its hash does not match: it, or the order of entries, was changed')
  }

  /**
   * Checks the entry that ends those of an earlier version: it has a digest of the users they are about,
   * which their own hashes do not cover.
   */
  function checkUpgrade({ id, action, after }: AuditEntry, place: number): void {
    // If all of them were changed, none has set the rule.
    if (rule === undefined && action !== 'audit_log.upgraded') return
    const digest = formerAbout.digest('hex')
    if (action !== 'audit_log.upgraded') {
      report(place, id, 'no entry before it confirms the users that entries of an earlier version are about')
    } else if (after?.['entries'] !== place - 1 || after['digest'] !== digest) {
      report(place, id, 'the user that an entry before it is about was changed')
    }
  }

  /** Details and origins may only be erased with a user; missing ones of other entries are a break. */
  function checkErased(entry: AuditEntry): void {
    const { place, id, action, userId, subjectId, aboutId, originSalt, detailsSalt } = entry
    // Before the notes, because an erasure does not explain missing data of its own entry.
    if (action === 'user.erased' && subjectId !== null) erasedTracker.explain(subjectId, place)
    const note = (what: string, ids: readonly (string | null)[]) => {
      const users = usersIn(ids)
      if (users.length > 0) erasedTracker.note({ place, id, users })
      else report(place, id, `${what} removed, though it is about no user`)
    }
    if (originSalt === null) note('its address was', [userId ?? subjectId])
    if (detailsSalt === null) note('its details were', [subjectId, aboutId])
  }

  /** Returns all breaks, including those that are only certain at the end of the log. */
  function allBroken(): Pick<ChainReport, 'breaks' | 'broken'> {
    const removed = erasedTracker.unexplained().map(({ users, place, id }) => {
      const reason = `its details or address were removed, though user ${users.join(' or ')} was not erased later`
      return { place, id, reason }
    })
    const reason =
      'Entries are linked as by an earlier version, and no entry confirms the users they are about'
    const unconfirmed = rule === 'former' ? [{ place: null, id: null, reason }] : []
    const found = [...removed, ...unconfirmed]
    return { breaks: [...breaks, ...found].slice(0, maxBreaks), broken: broken + found.length }
  }

  return {
    add(entry) {
      entries += 1
      from = from === null || entry.at < from ? entry.at : from
      to = to === null || entry.at > to ? entry.at : to
      const { place, id, originSalt, detailsSalt } = entry
      if (originSalt === null || detailsSalt === null) erased += 1
      checkErased(entry)
      if (originSalt !== null && sha256(originText(entry)) !== entry.originDigest) {
        report(place, id, 'its address or user agent was changed')
      }
      if (detailsSalt !== null && sha256(detailsText(entry)) !== entry.detailsDigest) {
        report(place, id, 'its details were changed')
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

/** Tracks entries with missing data until the erasure of one of their users explains it. */
function createErasedTracker() {
  const waiting = new Map<string, ErasedEntry>()
  const keysOf = new Map<string, Set<string>>()
  /** Users erased by entries that are not linked yet; these are read first and are the latest. */
  const erasedLast = new Set<string>()
  return {
    note(entry: ErasedEntry): void {
      const { users } = entry
      const key = users.join(' ')
      if (waiting.has(key) || users.some((user) => erasedLast.has(user))) return
      waiting.set(key, entry)
      for (const user of users) keysOf.set(user, (keysOf.get(user) ?? new Set()).add(key))
    },
    /** Explains missing data by the erasure of a user at this place. */
    explain(user: string, place: number | null): void {
      for (const key of keysOf.get(user) ?? []) waiting.delete(key)
      keysOf.delete(user)
      if (place === null) erasedLast.add(user)
    },
    unexplained: (): readonly ErasedEntry[] => [...waiting.values()],
  }
}

/** Returns the users among the ids; details are only erased with a user. */
function usersIn(ids: readonly (string | null)[]): string[] {
  const users = ids.filter((id): id is string => id?.startsWith('usr_') === true)
  return [...new Set(users)]
}

function sha256(text: string): string {
  return hash('sha256', text, 'hex')
}
