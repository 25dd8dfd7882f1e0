import { open, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { profileOf } from '../../config/profiles.ts'
import { platformName } from '../../config/target.ts'
import type { Context } from '../command/context.ts'
import { type Change, changesOf, withTimesOf } from '../records/compare.ts'
import {
  type Declared,
  type Entry,
  loadPart,
  type Part,
  type PartDataset,
  parts,
} from '../records/entries.ts'
import { shownIn } from '../records/finder.ts'
import { keyIn, valueName } from '../records/identity.ts'
import type { Action } from '../records/plan.ts'
import { openWriter } from '../records/write.ts'
import { requireLearnctl } from '../session/learnctl-server.ts'
import type { Session } from '../session/session.ts'
import { UsageError } from '../terminal/errors.ts'
import {
  type DeclaredRoster,
  inScope,
  integrationIn,
  type RosterReadOptions,
  readDeclaredRoster,
} from './declared-roster.ts'
import { rosterPartOf, rosterParts, type Scope } from './roster.ts'

/** A roster, or the records of a platform (`isWhole`): these show all fields, so that an absent one is empty. */
type Side = Pick<DeclaredRoster, 'name' | 'declared' | 'isDelta' | 'notes'> & { readonly isWhole: boolean }

/**
 * Compares the records that both sides can have, and of these the fields that both sides have. Users match by external
 * id, else by e-mail address. Returns the changes that make the first side equal to the second, and in words what only one
 * side has.
 */
export async function compareSides(before: Side, after: Side) {
  const actions: Action[] = []
  const deletes: (readonly Action[])[] = []
  const notCompared = partsOfOne(before, after)
  const renamed = renamedUsers(before.declared.get('users') ?? [], after.declared.get('users') ?? [])
  let unchanged = 0
  for (const [part, all] of after.declared) {
    const entries = before.declared.get(part)
    if (!entries) continue
    const dataset = await loadPart(part)
    const fields = fieldsOf(before, entries)
    notCompared.push(...fieldsOfOne(part, [before, fields], [after, fieldsOf(after, all)]))
    const left = new Map(present(withKeysOf(dataset, entries, renamed)).map((entry) => [entry.key, entry]))
    for (const entry of present(all)) {
      const { key } = entry
      const same = left.get(key)
      left.delete(key)
      const changes = same ? fieldChanges(dataset, entry, same, fields) : []
      if (same && changes.length === 0) unchanged += 1
      else {
        const kind = same ? 'update' : 'create'
        actions.push({ dataset: part, kind, key, entry, current: same?.record ?? null, changes })
      }
    }
    const gone = new Set(all.filter(({ isRemoved }) => isRemoved).map(({ key }) => key))
    const extra = [...left.values()].filter(({ key }) => !after.isDelta(part) || gone.has(key))
    deletes.push(
      extra.map(({ key, record }) => ({
        ...{ dataset: part, kind: 'delete', key, entry: null, current: record, changes: [] },
      })),
    )
  }
  const plan = {
    actions: [...actions, ...deletes.toReversed().flat()],
    ...{ unchanged, notes: [], kept: [], lessonPlaces: new Map(), undeclared: [] },
    leftOut: new Set<Entry>(),
  }
  return { plan, notCompared }
}

function present(entries: readonly Entry[]): readonly Entry[] {
  return entries.filter(({ isRemoved }) => !isRemoved)
}

/** Keys in the first side as keys: both users have the same e-mail address. */
function renamedUsers(before: readonly Entry[], after: readonly Entry[]): ReadonlyMap<string, string> {
  const [had, has] = [before, after].map((all) => new Set(present(all).map(({ key }) => key)))
  const byAddress = new Map(
    present(before).flatMap((entry) => (has?.has(entry.key) ? [] : [[addressOf(entry), entry.key] as const])),
  )
  byAddress.delete(null)
  const renamed = new Map<string, string>()
  for (const entry of present(after)) {
    const from = had?.has(entry.key) ? undefined : byAddress.get(addressOf(entry))
    if (from !== undefined && !renamed.has(from)) renamed.set(from, entry.key)
  }
  return renamed
}

/** Null for all. */
type Fields = ReadonlySet<string> | null

/** Fields whose values belong to one side alone. */
const ownFields: ReadonlySet<string> = new Set(['managedBy', 'password'])

function addressOf({ record: { email } }: Entry): string | null {
  return typeof email === 'string' ? valueName('email', email) : null
}

function fieldChanges(dataset: PartDataset, entry: Entry, same: Entry, fields: Fields): readonly Change[] {
  const days = [...(entry.days ?? []), ...(same.days ?? [])]
  const record = withTimesOf(entry.record, days, same.record)
  return changesOf(dataset, knownPart(record, fields), same.record)
}

function knownPart(record: JsonObject, fields: Fields, above = ''): JsonObject {
  const known: JsonObject = {}
  for (const name in record) {
    const [path, value] = [above + name, record[name]]
    if (ownFields.has(path)) continue
    if (isJsonObject(value)) known[name] = knownPart(value, fields, `${path}.`)
    else if (!fields || fields.has(path)) known[name] = value
  }
  return known
}

/** Null for a side that has all. */
function fieldsOf({ isWhole }: Side, entries: readonly Entry[]): Fields {
  if (isWhole) return null
  const paths = new Set<string>()
  const add = (record: JsonObject, above: string) => {
    for (const name in record) {
      const value = record[name]
      if (isJsonObject(value)) add(value, `${above}${name}.`)
      else if (value !== undefined) paths.add(above + name)
    }
  }
  for (const { record, isRemoved } of entries) if (!isRemoved) add(record, '')
  return paths
}

function withKeysOf(
  dataset: PartDataset,
  entries: readonly Entry[],
  renamed: ReadonlyMap<string, string>,
): readonly Entry[] {
  const references = Object.entries(dataset.references).flatMap(([field, to]) =>
    to === 'users' ? field : [],
  )
  if (renamed.size === 0) return entries
  return entries.map((entry) => {
    if (dataset.name === 'users') return { ...entry, key: renamed.get(entry.key) ?? entry.key }
    const named = references.flatMap((field) => {
      const to = renamed.get(String(entry.record[field]))
      return to === undefined ? [] : [[field, to] as const]
    })
    if (named.length === 0) return entry
    const record = { ...entry.record, ...Object.fromEntries(named) }
    return { ...entry, record, key: keyIn(dataset.name, record) ?? entry.key }
  })
}

function partsOfOne(before: Side, after: Side): string[] {
  const only = (one: Side, other: Side) =>
    [...one.declared].flatMap(([part, entries]) =>
      other.declared.has(part) || entries.length === 0 ? [] : [`${part}: only in ${one.name}`],
    )
  return [...only(before, after), ...only(after, before)]
}

function fieldsOfOne(part: Part, one: [Side, Fields], other: [Side, Fields]): string[] {
  const only = ([side, fields]: [Side, Fields], [, others]: [Side, Fields]) => {
    if (!fields || !others) return []
    const names = [...fields].filter((name) => !others.has(name) && !ownFields.has(name)).sort()
    return names.length === 0 ? [] : [`${part}: ${names.join(', ')} (only in ${side.name})`]
  }
  return [...only(one, other), ...only(other, one)]
}

/** `profile:<name>`, a database, a roster, `-` for one on standard input, or a profile. Throws a UsageError for none. */
export async function openSide(
  context: Context,
  name: string,
  scope: Scope,
  options: RosterReadOptions,
): Promise<Side> {
  const session = await sessionOf(context, name)
  if (session) {
    const { declared } = inScope(name, await readPlatform(context, session), scope)
    return { name, declared, isWhole: true, isDelta: () => false, notes: [] }
  }
  const { declared, isDelta, notes } = await readDeclaredRoster(context, name, scope, options)
  return { name, declared, isWhole: false, isDelta, notes }
}

/** Null for a roster. */
async function sessionOf(
  { io, profiles, sessionWith, sessionAt }: Context,
  given: string,
): Promise<Session | null> {
  const [, profile] = /^profile:(.+)$/.exec(given) ?? []
  if (profile !== undefined) return sessionWith(profile)
  if (given === '-' || integrationIn(given)) return null
  const path = resolve(io.cwd, given)
  const found = await stat(path).catch(() => null)
  if (found) return (await isDatabase(path)) ? sessionAt(path) : null
  if (profileOf(profiles.read(), given)) return sessionWith(given)
  throw new UsageError(`Cannot find ${given}`, {
    why: ['It is neither a file or folder nor the name of a profile'],
    hint: 'learnctl profiles list',
  })
}

const databaseSignature = 'SQLite format 3\0'

async function isDatabase(path: string): Promise<boolean> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(16), 0, 16, 0)
    return buffer.toString('latin1', 0, bytesRead) === databaseSignature
  } catch {
    return false
  } finally {
    await file.close()
  }
}

async function readPlatform({ io }: Pick<Context, 'io'>, session: Session): Promise<Declared> {
  const reader = await openWriter({ session, io })
  await requireLearnctl(session, reader.caller, 'roster diff', io.signal)
  const place = { file: platformName(session.target()), line: 0 }
  const declared = new Map<Part, Entry[]>()
  const deleted = new Set<unknown>()
  for (const part of parts) {
    if (!rosterParts.some((name) => name === rosterPartOf(part))) continue
    const dataset = await loadPart(part)
    const entries: Entry[] = []
    for await (const shown of shownIn(reader, dataset)) {
      const { id, status, userId, learnerId } = shown
      if (part === 'users' && status === 'deleted') deleted.add(id)
      if (status === 'deleted' || deleted.has(userId) || deleted.has(learnerId)) continue
      const record = await dataset.toRecord(shown, reader.names)
      entries.push({ dataset: part, key: keyIn(part, record) ?? String(id), record, place })
    }
    declared.set(part, entries)
  }
  return declared
}
