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

/** How entries are linked: by the rule of an earlier version up to `audit_log.upgraded`, and by this one from there on. */
type Rule = 'former' | 'present'

/** An entry that lacks its details or origin, and the users with whom these may have been erased. */
interface Gone {
  readonly users: readonly string[]
  readonly place: number | null
  readonly id: string
}

/**
 * A check of an audit log, in memory for those users alone of whom something was erased: everything is calculated from
 * what the entries show.
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
  /** Known from the first entry on whose hash is right. */
  let rule: Rule | undefined
  const formerAbout = createHash('sha256')
  const gone = goneDetails()

  function tell(place: number | null, id: string | null, reason: string): void {
    broken += 1
    if (breaks.length < mostBreaks) breaks.push({ place, id, reason })
  }

  function link(entry: AuditEntry, place: number): void {
    const expectedPlace = last.place + 1
    if (place > expectedPlace) {
      const lost = place - expectedPlace
      const which = lost === 1 ? `Entry ${expectedPlace} is` : `Entries ${expectedPlace} to ${place - 1} are`
      tell(lost === 1 ? expectedPlace : null, null, `${which} missing`)
    } else if (place < expectedPlace) tell(place, entry.id, 'its place was taken before')
    // Behind a gap, nothing says what the hash was made with.
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
    else tell(place, entry.id, 'its hash does not match: it, or the order of entries, was changed')
  }

  /** Entries of an earlier version end with one that says whom they are about: else that could be changed in them. */
  function checkUpgrade({ id, action, after }: AuditEntry, place: number): void {
    // Of entries that were changed, none may have told the rule yet.
    if (rule === undefined && action !== 'audit_log.upgraded') return
    const digest = formerAbout.digest('hex')
    if (action !== 'audit_log.upgraded') {
      tell(place, id, 'no entry before it confirms whom the entries of an earlier version are about')
    } else if (after?.['entries'] !== place - 1 || after['digest'] !== digest) {
      tell(place, id, 'whom entries before it are about was changed')
    }
  }

  /** Only with a user may details and origins go: their removal from other entries hides something. */
  function checkErased(entry: AuditEntry): void {
    const { place, id, action, userId, subjectId, aboutId, originSalt, detailsSalt } = entry
    // First: an erasure does not explain what its own entry lacks.
    if (action === 'user.erased' && subjectId !== null) gone.explain(subjectId, place)
    const note = (what: string, ids: readonly (string | null)[]) => {
      const users = usersIn(ids)
      if (users.length > 0) gone.note({ place, id, users })
      else tell(place, id, `${what} removed, though it is about no user`)
    }
    if (originSalt === null) note('its address was', [userId ?? subjectId])
    if (detailsSalt === null) note('its details were', [subjectId, aboutId])
  }

  /** All breaks, with those that only the end of the log shows. */
  function allBroken(): Pick<ChainReport, 'breaks' | 'broken'> {
    const removed = gone.unexplained().map(({ users, place, id }) => {
      const reason = `its details or address were removed, though user ${users.join(' or ')} was not erased later`
      return { place, id, reason }
    })
    const reason = 'Entries are linked as by an earlier version, and no entry confirms whom they are about'
    const unconfirmed = rule === 'former' ? [{ place: null, id: null, reason }] : []
    const found = [...removed, ...unconfirmed]
    return { breaks: [...breaks, ...found].slice(0, mostBreaks), broken: broken + found.length }
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

/** Entries that lack something, until the erasure of a user explains it who is in them. */
function goneDetails() {
  const waiting = new Map<string, Gone>()
  const keysOf = new Map<string, Set<string>>()
  /** By entries that are not linked yet, which come first and are later than all that are. */
  const erasedLast = new Set<string>()
  return {
    note(entry: Gone): void {
      const { users } = entry
      const key = users.join(' ')
      if (waiting.has(key) || users.some((user) => erasedLast.has(user))) return
      waiting.set(key, entry)
      for (const user of users) keysOf.set(user, (keysOf.get(user) ?? new Set()).add(key))
    },
    /** A user was erased by the entry in this place. */
    explain(user: string, place: number | null): void {
      for (const key of keysOf.get(user) ?? []) waiting.delete(key)
      keysOf.delete(user)
      if (place === null) erasedLast.add(user)
    },
    unexplained: (): readonly Gone[] => [...waiting.values()],
  }
}

/** The users among these ids: with others, no details go. */
function usersIn(ids: readonly (string | null)[]): string[] {
  const users = ids.filter((id): id is string => id?.startsWith('usr_') === true)
  return [...new Set(users)]
}

function sha256(text: string): string {
  return hash('sha256', text, 'hex')
}
