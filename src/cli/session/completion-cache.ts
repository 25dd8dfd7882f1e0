import { readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isJsonObject, parseJson } from '../../codec/json-text.ts'
import { makeDirectory, readRegularFile } from '../../config/files.ts'
import type { Operation } from '../../contract/operation.ts'

export interface CachedThing {
  readonly id: string
  readonly externalId: string | null
  readonly email: string | null
  readonly label: string
}

export interface CompletionCache {
  /** The most recent first. */
  readonly things: readonly CachedThing[]
  /** Time of the last addition, in milliseconds since 1970. */
  readonly seenAt: number
  /** Time of the last attempt to list all of them, and whether it failed; 0 for never. */
  readonly askedAt: number
  readonly failed: boolean
}

/** Identifies a cache: the state directory, the platform or database, and the noun. */
interface CompletionCacheKey {
  readonly state: string
  readonly target: string
  readonly noun: string
}

const maxCacheAgeMs = 600_000
export const maxThings = 500
const maxBytes = 1024 * 1024
/** Few users work with more platforms. */
const maxFiles = 100

const nothing: CompletionCache = { things: [], seenAt: 0, askedAt: 0, failed: false }

/** Empty if it is too old or unreadable. */
export function readCompletionCache(place: CompletionCacheKey, now: number): CompletionCache {
  try {
    const stored: unknown = parseJson(readRegularFile(pathOf(place), maxBytes))
    if (!isJsonObject(stored) || stored['target'] !== place.target) return nothing
    const { things, seenAt, askedAt, failed } = stored
    if (typeof askedAt !== 'number' || typeof seenAt !== 'number' || !Array.isArray(things)) return nothing
    if (seenAt > now || askedAt > now) return nothing
    const kept = now - seenAt > maxCacheAgeMs ? [] : things.filter(isThing)
    return { things: kept, seenAt, askedAt, failed: failed === true }
  } catch {
    return nothing
  }
}

function addToCompletionCache(place: CompletionCacheKey, shown: readonly CachedThing[], now: number): void {
  const known = readCompletionCache(place, now)
  const ids = new Set(shown.map(({ id }) => id))
  const things = [...shown, ...known.things.filter(({ id }) => !ids.has(id))]
  writeCompletionCache(place, { ...known, things, seenAt: now }, now)
}

/**
 * Writes a cache to a file that only its owner can read. Ignores errors: the cache only speeds up completion.
 */
export function writeCompletionCache(place: CompletionCacheKey, seen: CompletionCache, now: number): void {
  const path = pathOf(place)
  const part = `${path}.${process.pid}`
  try {
    makeDirectory(folderOf(place.state), null)
    removeOld(folderOf(place.state), now)
    const things = seen.things.slice(0, maxThings)
    writeFileSync(part, JSON.stringify({ ...seen, target: place.target, things }), { mode: 0o600 })
    renameSync(part, path)
  } catch {
    rmSync(part, { force: true })
  }
}

/** Deletes all caches, so that signing out leaves no names behind. */
export function clearCompletionCache(state: string): void {
  try {
    rmSync(folderOf(state), { recursive: true, force: true })
  } catch {
    // It expires soon.
  }
}

function folderOf(state: string): string {
  return join(state, 'completion')
}

function pathOf({ state, target, noun }: CompletionCacheKey): string {
  return join(folderOf(state), `${noun}-${hash(target)}.json`)
}

/**
 * FNV-1a, 32 bits, for a file name; the content names the target. Loading crypto takes longer than all of
 * this.
 */
function hash(text: string): string {
  let value = 0x811c9dc5
  for (let at = 0; at < text.length; at += 1) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193)
  return (value >>> 0).toString(16).padStart(8, '0')
}

/** Deletes expired files, and all files if there are too many. */
function removeOld(folder: string, now: number): void {
  const names = readdirSync(folder)
  for (const name of names) {
    const path = join(folder, name)
    const age = now - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now)
    if (age > maxCacheAgeMs || names.length > maxFiles) rmSync(path, { force: true })
  }
}

function isThing(value: unknown): value is CachedThing {
  if (!isJsonObject(value)) return false
  const { id, externalId, email, label } = value
  const isName = (name: unknown) => name === null || typeof name === 'string'
  return typeof id === 'string' && typeof label === 'string' && isName(externalId) && isName(email)
}

/** Null if it has no id. */
export function thingOf(item: unknown, identifier = 'id'): CachedThing | null {
  if (!isJsonObject(item)) return null
  const id = String(item[identifier] ?? '')
  if (id === '') return null
  const text = (name: string) => (typeof item[name] === 'string' && item[name] !== '' ? item[name] : null)
  const profile = isJsonObject(item['profile']) ? item['profile'] : {}
  const names = [
    profile['displayName'],
    [profile['firstName'], profile['lastName']].filter(Boolean).join(' '),
  ]
  const email = text('email')
  const own = [text('title'), text('name'), ...names, text('username'), email].find(
    (name) => typeof name === 'string' && name !== '',
  )
  const joined = [
    'itemId',
    'userEmail',
    'userExternalId',
    'courseTitle',
    'courseExternalId',
    'role',
    'status',
  ]
  const label = typeof own === 'string' ? own : joined.flatMap((name) => text(name) ?? []).join(' · ')
  return { id, externalId: text('externalId'), email, label: label.slice(0, 100) }
}

interface ShownThings {
  /** Yields the pages unchanged. */
  collect(pages: AsyncIterable<readonly unknown[]>): AsyncGenerator<readonly unknown[]>
  save(now: number): void
}

const suggestedNouns = [
  'courses',
  'lessons',
  'users',
  'terms',
  'enrollments',
  'groups',
  'grades',
  'keys',
  'apps',
  'grants',
  'calendars',
]

/** Null for a list whose items completion does not suggest. */
export function shownThings(
  place: Pick<CompletionCacheKey, 'state' | 'target'>,
  { id, identifier }: Operation,
): ShownThings | null {
  const [noun = '', verb] = id.split('.')
  if (verb !== 'list' || !suggestedNouns.includes(noun)) return null
  const things: CachedThing[] = []
  return {
    async *collect(pages) {
      for await (const page of pages) {
        for (const item of page.slice(0, maxThings - things.length)) {
          const thing = thingOf(item, identifier)
          if (thing) things.push(thing)
        }
        yield page
      }
    },
    save: (now) => addToCompletionCache({ ...place, noun }, things, now),
  }
}
