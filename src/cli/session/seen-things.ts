import { readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isJsonObject } from '../../codec/json-object.ts'
import { parseJson } from '../../codec/json-text.ts'
import { makeDirectory } from '../../config/make-directory.ts'
import { readRegularFile } from '../../config/read-file.ts'

/** Something that a list showed: what it is referred to by, and what it is called. */
export interface SeenThing {
  readonly id: string
  readonly externalId: string | null
  readonly email: string | null
  readonly label: string
}

/** What is known of the things of one noun on one platform. */
export interface Seen {
  /** The newest first. */
  readonly things: readonly SeenThing[]
  /** When they were seen, in milliseconds since 1970. */
  readonly seenAt: number
  /** When all of them were last asked for, and whether that was in vain; 0 for never. */
  readonly askedAt: number
  readonly failed: boolean
}

/** Where it is kept: the directory of state, the platform or database, and what things these are. */
export interface SeenPlace {
  readonly state: string
  readonly target: string
  readonly noun: string
}

/** So long what a list showed is offered. */
export const seenForMs = 600_000
/** So many things are kept of each noun. */
export const maximumThings = 500
const maximumBytes = 1024 * 1024
/** So many files are kept; a school works with few platforms. */
const maximumFiles = 100

const nothing: Seen = { things: [], seenAt: 0, askedAt: 0, failed: false }

/** What is kept, as far as it is not too old; nothing where that cannot be read. */
export function readSeen(place: SeenPlace, now: number): Seen {
  try {
    const stored: unknown = parseJson(readRegularFile(pathOf(place), maximumBytes))
    if (!isJsonObject(stored) || stored['target'] !== place.target) return nothing
    const { things, seenAt, askedAt, failed } = stored
    if (typeof askedAt !== 'number' || typeof seenAt !== 'number' || !Array.isArray(things)) return nothing
    if (seenAt > now || askedAt > now) return nothing
    const kept = now - seenAt > seenForMs ? [] : things.filter(isThing)
    return { things: kept, seenAt, askedAt, failed: failed === true }
  } catch {
    return nothing
  }
}

/** Adds what a list showed to what is known. */
export function addSeen(place: SeenPlace, shown: readonly SeenThing[], now: number): void {
  const known = readSeen(place, now)
  const ids = new Set(shown.map(({ id }) => id))
  const things = [...shown, ...known.things.filter(({ id }) => !ids.has(id))]
  keepSeen(place, { ...known, things, seenAt: now }, now)
}

/**
 * Keeps what is known in a file that is its owner's alone. That it cannot be kept is no fault: it makes completion
 * quicker, and nothing else.
 */
export function keepSeen(place: SeenPlace, seen: Seen, now: number): void {
  const path = pathOf(place)
  const part = `${path}.${process.pid}`
  try {
    makeDirectory(folderOf(place.state), null)
    removeOld(folderOf(place.state), now)
    const things = seen.things.slice(0, maximumThings)
    writeFileSync(part, JSON.stringify({ ...seen, target: place.target, things }), { mode: 0o600 })
    renameSync(part, path)
  } catch {
    rmSync(part, { force: true })
  }
}

/** Forgets all of it: whoever signs out leaves no names behind. */
export function forgetSeen(state: string): void {
  try {
    rmSync(folderOf(state), { recursive: true, force: true })
  } catch {
    // What cannot be removed is not offered for long.
  }
}

function folderOf(state: string): string {
  return join(state, 'completion')
}

function pathOf({ state, target, noun }: SeenPlace): string {
  return join(folderOf(state), `${noun}-${hash(target)}.json`)
}

/** FNV-1a, 32 bits: a name for a file, whose content says whose it is. Cryptography takes longer to load than all of this. */
function hash(text: string): string {
  let value = 0x811c9dc5
  for (let at = 0; at < text.length; at += 1) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193)
  return (value >>> 0).toString(16).padStart(8, '0')
}

/** Removes what nobody is offered any more, and all where there is too much of it. */
function removeOld(folder: string, now: number): void {
  const names = readdirSync(folder)
  for (const name of names) {
    const path = join(folder, name)
    const age = now - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now)
    if (age > seenForMs || names.length > maximumFiles) rmSync(path, { force: true })
  }
}

function isThing(value: unknown): value is SeenThing {
  if (!isJsonObject(value)) return false
  const { id, externalId, email, label } = value
  const isName = (name: unknown) => name === null || typeof name === 'string'
  return typeof id === 'string' && typeof label === 'string' && isName(externalId) && isName(email)
}

/** What an item of a list is referred to by; null for one without an id. */
export function thingOf(item: unknown, id: unknown): SeenThing | null {
  if (!isJsonObject(item) || typeof id !== 'string') return null
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
