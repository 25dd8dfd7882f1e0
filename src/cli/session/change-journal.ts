import { randomBytes } from 'node:crypto'
import { appendFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { systemCode } from '../../config/errors.ts'
import { makeDirectory } from '../../config/files.ts'
import type { BulkChange, ChangeEnd, ChangeNotes, JournalAction } from './bulk-change.ts'

/** Days for which a journal is kept. */
export const journalDays = 30
const dayMs = 24 * 60 * 60 * 1000
/** Maximum actions of a journal; further ones cannot be undone. */
const maxActions = 100_000

/** A change of many records on a platform that keeps no changes itself. */
interface JournalHeader extends BulkChange {
  readonly id: string
  /** Name of the platform. */
  readonly target: string
  /** ISO 8601 in UTC. */
  readonly createdAt: string
}

export interface ReadJournal extends JournalHeader {
  readonly path: string
  readonly state: 'running' | ChangeEnd
  readonly undoneBy: string | null
  readonly actions: readonly (JournalAction & { readonly isErased: boolean })[]
  /** True if the change did more than the journal holds. */
  readonly isCut: boolean
}

/** Appends what a change does to a file that only its owner can read. Secrets are left out. */
export class ChangeJournal implements ChangeNotes {
  readonly header: JournalHeader
  readonly #path: string
  #actions = 0

  constructor(stateDirectory: string, header: Omit<JournalHeader, 'id' | 'createdAt'>, nowMs: number) {
    const folder = folderOf(stateDirectory)
    makeDirectory(folder, 'XDG_STATE_HOME')
    removeOld(folder, nowMs)
    const id = `chg_${nowMs.toString(36).padStart(9, '0')}${randomBytes(10).toString('hex')}`
    this.header = { ...header, id, createdAt: new Date(nowMs).toISOString() }
    this.#path = join(folder, `${id}.jsonl`)
    writeFileSync(this.#path, `${JSON.stringify(this.header)}\n`, { mode: 0o600, flag: 'wx' })
  }

  add({ before, after, ...action }: JournalAction): void {
    this.#actions += 1
    if (this.#actions > maxActions + 1) return
    const line =
      this.#actions > maxActions
        ? { isCut: true }
        : { ...action, before: withoutSecrets(before), after: withoutSecrets(after) }
    this.#append(line)
  }

  end(state: ChangeEnd): void {
    this.#append({ state })
  }

  #append(line: object): void {
    appendFileSync(this.#path, `${JSON.stringify(line)}\n`, { mode: 0o600 })
  }
}

export function hasJournals(stateDirectory: string): boolean {
  return namesIn(folderOf(stateDirectory)).length > 0
}

/** Reads the journals of a platform, the newest first. */
export function readJournals(stateDirectory: string, target: string, nowMs: number): ReadJournal[] {
  const folder = folderOf(stateDirectory)
  removeOld(folder, nowMs)
  return namesIn(folder)
    .toSorted()
    .toReversed()
    .flatMap((name) => readJournal(join(folder, name)) ?? [])
    .filter((journal) => journal.target === target)
}

/** Notes that a change was undone by another. */
export function markUndone({ path }: ReadJournal, undoneBy: string): void {
  appendFileSync(path, `${JSON.stringify({ undoneBy })}\n`, { mode: 0o600 })
}

/** Removes the values of a user from all journals: actions on the user, and those that name them. */
export function eraseFromJournals(stateDirectory: string, id: string, names: readonly string[]): void {
  const folder = folderOf(stateDirectory)
  // An address is unique as a part of a text; an external id may be as short as a number.
  const sought = [id, ...names].map((name) => {
    const quoted = JSON.stringify(name.toLowerCase())
    return name === id || name.includes('@') ? quoted.slice(1, -1) : quoted
  })
  for (const file of namesIn(folder)) {
    const path = join(folder, file)
    const lines = readFileSync(path, 'utf8').split('\n')
    const kept = lines.map((line) => {
      const folded = line.toLowerCase()
      return sought.some((name) => folded.includes(name)) ? withoutValues(line) : line
    })
    if (kept.some((line, index) => line !== lines[index])) {
      writeFileSync(path, kept.join('\n'), { mode: 0o600 })
    }
  }
}

function withoutValues(line: string): string {
  const entry = objectIn(line)
  if (!entry) return ''
  // The header: its source may name the user.
  if (entry['command'] !== undefined) return JSON.stringify({ ...entry, source: null })
  const { noun, verb, id } = entry
  return JSON.stringify({ noun, verb, id, name: null, before: null, after: null, isErased: true })
}

function readJournal(path: string): ReadJournal | null {
  const [header, ...lines] = readFileSync(path, 'utf8').split('\n').map(objectIn)
  if (!header || typeof header['id'] !== 'string') return null
  const all = lines.filter((line) => line !== null)
  const last = (field: string) => all.findLast((line) => line[field] !== undefined)?.[field]
  return {
    // Written by ChangeJournal.
    ...(header as unknown as JournalHeader),
    path,
    state: (last('state') as ChangeEnd | undefined) ?? 'running',
    undoneBy: (last('undoneBy') as string | undefined) ?? null,
    actions: all
      .filter(({ verb }) => verb !== undefined)
      .map((line) => ({ isErased: false, ...(line as unknown as JournalAction) })),
    isCut: last('isCut') === true,
  }
}

/** Fields that no journal holds. */
const secrets = ['password', 'key', 'clientSecret', 'accessToken', 'webhookSecrets', 'secret']

function withoutSecrets(record: JsonObject | null): JsonObject | null {
  return record && Object.fromEntries(Object.entries(record).filter(([field]) => !secrets.includes(field)))
}

function folderOf(stateDirectory: string): string {
  return join(stateDirectory, 'changes')
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => /^chg_\w+\.jsonl$/.test(name))
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return []
    throw error
  }
}

function removeOld(folder: string, nowMs: number): void {
  for (const name of namesIn(folder)) {
    const createdMs = Number.parseInt(name.slice(4, 13), 36)
    if (createdMs < nowMs - journalDays * dayMs) rmSync(join(folder, name), { force: true })
  }
}

function objectIn(line: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(line)
    return isJsonObject(value) ? value : null
  } catch {
    return null
  }
}

/** Returns the fields of a body as they were before and are after an update. */
export function changeBy(shown: JsonObject, body: JsonObject, answer: unknown) {
  const changed = isJsonObject(answer) && isJsonObject(answer['course']) ? answer['course'] : answer
  const pick = (record: unknown) =>
    Object.fromEntries(
      Object.entries(body).map(([field, sent]) => [
        field,
        isJsonObject(record) && field in record ? record[field] : record === shown ? null : sent,
      ]),
    )
  return { before: pick(shown), after: pick(changed) }
}

/** Returns the noun of a dataset, as actions of the audit log name it. */
export function nounOf(name: string): string {
  return name === 'progress' ? name : name.replace(/s$/, '')
}

/** Returns the id of a shown record; null if it has none. */
export function idIn({ id }: JsonObject): string | null {
  return id === undefined || id === null ? null : String(id)
}

/** Returns what a record is called; null if it has no name. */
export function nameIn({ title, email, name, userEmail, courseTitle }: JsonObject): string | null {
  const text = [title, email, name, userEmail, courseTitle].find((each) => typeof each === 'string')
  return text === undefined ? null : String(text)
}
