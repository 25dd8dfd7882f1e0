import { open, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { profileOf } from '../../config/profiles.ts'
import { platformName } from '../../config/target.ts'
import type { Context } from '../command/context.ts'
import { type Declared, type Entry, loadPart, type Part, parts } from '../records/entries.ts'
import { shownIn } from '../records/finder.ts'
import { keyIn } from '../records/identity.ts'
import { openWriter } from '../records/write.ts'
import { requireLearnctl } from '../session/learnctl-server.ts'
import type { Session } from '../session/session.ts'
import { UsageError } from '../terminal/errors.ts'
import type { Side } from './compare-rosters.ts'
import { integrationIn, type RosterReadOptions, readDeclaredRoster } from './declared-roster.ts'
import { rosterPartOf, rosterParts } from './roster.ts'
import { inScope, type Scope } from './scope.ts'

/** The notes are about records that were read leniently or cannot be read. */
export interface OpenedSide extends Side {
  readonly notes: readonly string[]
}

/**
 * Reads a side of a comparison: `profile:<name>`, the database of a local academy, a roster, `-` for one on standard input, or the name
 * of a profile.
 * Throws a UsageError if there is none.
 */
export async function openSide(
  context: Context,
  name: string,
  scope: Scope,
  options: RosterReadOptions,
): Promise<OpenedSide> {
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

/** In the form of files, without deleted users and their records. */
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
