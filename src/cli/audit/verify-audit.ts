import { createHash, hash } from 'node:crypto'
import { isJsonObject } from '../../codec/json-text.ts'
import { platformName } from '../../config/target.ts'
import type { AuditEntry } from '../../contract/audit.ts'
import {
  aboutLine,
  detailsText,
  firstHash,
  formerLinkText,
  linkText,
  originText,
} from '../../contract/audit-chain.ts'
import { calls } from '../../contract/calls.ts'
import { maxPageSize } from '../../contract/constants.ts'
import type { Context } from '../command/context.ts'
import { showRequest } from '../operation/dry-run.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'
import { pluralise } from '../terminal/format-text.ts'
import { createProgressLine } from '../terminal/progress-line.ts'

const fields = ['entries', 'erased', 'unlinked', 'from', 'to', 'place', 'hash']
const shape = { table: fields, paths: fields }
const { list } = calls.audit

/** Throws a CommandError if an entry does not match its hash, or an expected hash is missing. */
export async function verifyAudit(context: Context, expected: readonly string[] = []): Promise<void> {
  const { io, output, session, settings } = context
  output.check(shape)
  const invalid = expected.find((text) => !/^[0-9a-f]{64}$/i.test(text))
  if (invalid !== undefined)
    throw new UsageError(`--expect must be a hash of 64 hexadecimal digits, not ${invalid}`)
  const caller = await session.caller()
  const input = { query: { sort: 'place' as const, limit: maxPageSize } }
  if (settings.dryRun.value) return showRequest(context, caller.request(list, input))
  const check = createChainCheck(expected)
  const line = await createProgressLine(io, 'entries', null)
  try {
    for await (const { data } of caller.pages(list, { ...input, signal: io.signal })) {
      for (const entry of data) check.add(entryOf(entry, platformName(session.target())))
      await line.update(check.report().entries)
    }
  } finally {
    line.stop()
  }
  const report = check.report()
  assertIntact(report)
  const { entries, erased, unlinked, from, to, place, hash } = report
  await output.one({ entries, erased, unlinked, from, to, place, hash }, shape)
  await output.done(`Verified ${pluralise(place, 'entry')}: none was changed, inserted or removed`)
  if (unlinked > 0) {
    await output.note(`${pluralise(unlinked, 'entry')} not linked yet; the server does so within seconds`)
  }
  if (erased > 0) await output.note(`The details of ${pluralise(erased, 'entry')} were erased with a user`)
}

function assertIntact({ breaks, broken, missing, place }: ChainReport): void {
  if (broken === 0 && missing.length === 0) return
  const lost = missing.map(
    (hash) => `No entry has the hash ${hash}: the log was cut off, or written anew, after it was noted down`,
  )
  const more = broken > breaks.length ? [`… and ${broken - breaks.length} more`] : []
  const why = [...breaks.map(lineOf), ...more, ...lost]
  throw new CommandError('audit_broken', 'failure', headOf(breaks, broken, place), { why, details: breaks })
}

function headOf([first]: readonly ChainBreak[], broken: number, place: number): string {
  if (!first) return `The audit log ends at place ${place} without the expected hash`
  const at = first.id === null ? '' : ` at ${first.id}`
  return `The audit log was tampered with${at}: ${pluralise(broken, 'problem')} found`
}

function lineOf({ place, id, reason }: ChainBreak): string {
  if (id === null) return reason
  return `Entry ${place === null ? '' : `${place} `}(${id}): ${reason}`
}

function entryOf(item: unknown, host: string): AuditEntry {
  const shows =
    isJsonObject(item) &&
    'aboutId' in item &&
    ['id', 'at', 'originDigest', 'detailsDigest'].every((name) => typeof item[name] === 'string')
  // The hash covers the other fields, so they need no validation.
  if (shows) return item as unknown as AuditEntry
  throw new CommandError('not_offered', 'failure', `${host} does not show the hashes of its audit log`)
}

/** A missing entry, or one that does not match its hash. */
interface ChainBreak {
  readonly place: number | null
  readonly id: string | null
  readonly reason: string
}

/** Times are ISO 8601 in UTC. */
export interface ChainReport {
  readonly entries: number
  /** Entries whose details or origin were erased with a user. */
  readonly erased: number
  readonly unlinked: number
  readonly from: string | null
  readonly to: string | null
  /** `broken` counts all. */
  readonly breaks: readonly ChainBreak[]
  readonly broken: number
  readonly place: number
  readonly hash: string
  readonly missing: readonly string[]
}

const maxBreaks = 10

interface ChainCheck {
  add(entry: AuditEntry): void
  report(): ChainReport
}

/** Entries up to `audit_log.upgraded` are linked by the former rule. */
type Rule = 'former' | 'present'

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
  return new AuditChainCheck(expected)
}

class AuditChainCheck implements ChainCheck {
  readonly #missing: Set<string>
  readonly #breaks: ChainBreak[] = []
  readonly #erasures = new ErasureTracker()
  /** Digest of the users that entries of an earlier version are about. */
  readonly #formerAbout = createHash('sha256')
  #last = { place: 0, hash: firstHash }
  /** Set by the first entry with a correct hash. */
  #rule: Rule | undefined
  #entries = 0
  #erased = 0
  #unlinked = 0
  #broken = 0
  #from: string | null = null
  #to: string | null = null

  constructor(expected: readonly string[]) {
    this.#missing = new Set(expected.map((text) => text.toLowerCase()))
    this.#missing.delete(firstHash)
  }

  add(entry: AuditEntry): void {
    const { at, place, id, originSalt, detailsSalt } = entry
    this.#entries += 1
    this.#from = this.#from === null || at < this.#from ? at : this.#from
    this.#to = this.#to === null || at > this.#to ? at : this.#to
    if (originSalt === null || detailsSalt === null) this.#erased += 1
    this.#checkErased(entry)
    if (originSalt !== null && sha256(originText(entry)) !== entry.originDigest) {
      this.#addBreak(place, id, 'its address or user agent was changed')
    }
    if (detailsSalt !== null && sha256(detailsText(entry)) !== entry.detailsDigest) {
      this.#addBreak(place, id, 'its details were changed')
    }
    if (place === null) this.#unlinked += 1
    else this.#checkLink(entry, place)
  }

  report(): ChainReport {
    return {
      entries: this.#entries,
      erased: this.#erased,
      unlinked: this.#unlinked,
      from: this.#from,
      to: this.#to,
      ...this.#allBreaks(),
      ...this.#last,
      missing: [...this.#missing],
    }
  }

  #addBreak(place: number | null, id: string | null, reason: string): void {
    this.#broken += 1
    if (this.#breaks.length < maxBreaks) this.#breaks.push({ place, id, reason })
  }

  #checkLink(entry: AuditEntry, place: number): void {
    const expectedPlace = this.#last.place + 1
    if (place > expectedPlace) {
      const lost = place - expectedPlace
      const which = lost === 1 ? `Entry ${expectedPlace} is` : `Entries ${expectedPlace} to ${place - 1} are`
      this.#addBreak(lost === 1 ? expectedPlace : null, null, `${which} missing`)
    } else if (place < expectedPlace) this.#addBreak(place, entry.id, 'its place was taken before')
    // After a gap, the previous hash is unknown.
    else this.#checkHash(entry, place)
    if (this.#rule !== 'present') this.#formerAbout.update(aboutLine({ ...entry, place }))
    this.#last = { place, hash: String(entry.hash) }
    this.#missing.delete(this.#last.hash)
  }

  #checkHash(entry: AuditEntry, place: number): void {
    const linked = { ...entry, place }
    const isFormer = this.#rule !== 'present'
    if (sha256(linkText(this.#last.hash, linked)) === entry.hash) {
      if (place > 1 && isFormer) this.#checkUpgrade(entry, place)
      this.#rule = 'present'
    } else if (isFormer && sha256(formerLinkText(this.#last.hash, linked)) === entry.hash) {
      this.#rule = 'former'
    } else {
      this.#addBreak(place, entry.id, 'its hash does not match: it, or the order of entries, was changed')
    }
  }

  /**
   * Checks the entry that ends those of an earlier version: it has a digest of the users they are about,
   * which their own hashes do not cover.
   */
  #checkUpgrade({ id, action, after }: AuditEntry, place: number): void {
    // If all of them were changed, none has set the rule.
    if (this.#rule === undefined && action !== 'audit_log.upgraded') return
    const digest = this.#formerAbout.digest('hex')
    if (action !== 'audit_log.upgraded') {
      const reason = 'no entry before it confirms the users that entries of an earlier version are about'
      this.#addBreak(place, id, reason)
    } else if (after?.['entries'] !== place - 1 || after['digest'] !== digest) {
      this.#addBreak(place, id, 'the user that an entry before it is about was changed')
    }
  }

  /** Details and origins may only be erased with a user; missing ones of other entries are a break. */
  #checkErased(entry: AuditEntry): void {
    const { place, id, action, userId, subjectId, aboutId, originSalt, detailsSalt } = entry
    // Before the notes, because an erasure does not explain missing data of its own entry.
    if (action === 'user.erased' && subjectId !== null) this.#erasures.explain(subjectId, place)
    const note = (what: string, ids: readonly (string | null)[]) => {
      const users = usersIn(ids)
      if (users.length > 0) this.#erasures.add({ place, id, users })
      else this.#addBreak(place, id, `${what} removed, though it is about no user`)
    }
    if (originSalt === null) note('its address was', [userId ?? subjectId])
    if (detailsSalt === null) note('its details were', [subjectId, aboutId])
  }

  #allBreaks(): Pick<ChainReport, 'breaks' | 'broken'> {
    const removed = this.#erasures.unexplained().map(({ users, place, id }) => {
      const reason = `its details or address were removed, though user ${users.join(' or ')} was not erased later`
      return { place, id, reason }
    })
    const reason =
      'Entries are linked as by an earlier version, and no entry confirms the users they are about'
    const unconfirmed = this.#rule === 'former' ? [{ place: null, id: null, reason }] : []
    const found = [...removed, ...unconfirmed]
    return {
      breaks: [...this.#breaks, ...found].slice(0, maxBreaks),
      broken: this.#broken + found.length,
    }
  }
}

/** Tracks entries with missing data until the erasure of one of their users explains it. */
class ErasureTracker {
  readonly #entryByUsers = new Map<string, ErasedEntry>()
  readonly #keysByUser = new Map<string, Set<string>>()
  /** Users erased by entries that are not linked yet; these are read first and are the latest. */
  readonly #erasedLast = new Set<string>()

  add(entry: ErasedEntry): void {
    const { users } = entry
    const key = users.join(' ')
    if (this.#entryByUsers.has(key) || users.some((user) => this.#erasedLast.has(user))) return
    this.#entryByUsers.set(key, entry)
    for (const user of users) {
      this.#keysByUser.set(user, (this.#keysByUser.get(user) ?? new Set()).add(key))
    }
  }

  explain(user: string, place: number | null): void {
    for (const key of this.#keysByUser.get(user) ?? []) this.#entryByUsers.delete(key)
    this.#keysByUser.delete(user)
    if (place === null) this.#erasedLast.add(user)
  }

  unexplained(): readonly ErasedEntry[] {
    return [...this.#entryByUsers.values()]
  }
}

function usersIn(ids: readonly (string | null)[]): string[] {
  const users = ids.filter((id): id is string => id?.startsWith('usr_') === true)
  return [...new Set(users)]
}

function sha256(text: string): string {
  return hash('sha256', text, 'hex')
}
