import { open, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { profileOf } from '../../config/profiles.ts'
import type { Context } from '../command/context.ts'
import { type Part, parts } from '../records/entries.ts'
import type { Session } from '../session/session.ts'
import { UsageError } from '../terminal/errors.ts'
import type { Side } from './compare-rosters.ts'
import { type RosterReadOptions, readDeclaredRoster } from './declared-roster.ts'
import { integrationIn } from './open-source.ts'
import { rosterPartOf, rosterParts } from './roster.ts'
import { inScope, type Scope } from './scope.ts'

const databaseSignature = 'SQLite format 3\0'

type Named = { readonly session: Session } | { readonly path: string }

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
  given: string,
  scope: Scope,
  options: RosterReadOptions,
): Promise<OpenedSide> {
  const named = await find(context, given)
  if ('path' in named) {
    const roster = await readDeclaredRoster(context, named.path, scope, options)
    return {
      name: given,
      declared: roster.declared,
      isWhole: false,
      isDelta: roster.isDelta,
      notes: roster.notes,
    }
  }
  return readSide(context, named.session, given, scope)
}

async function readSide(context: Context, session: Session, name: string, scope: Scope): Promise<OpenedSide> {
  const { readPlatform } = await import('./read-platform.ts')
  const declared = await readPlatform(context, session, partsOfRosters())
  const scoped = inScope(name, declared, scope)
  return { name, declared: scoped.declared, isWhole: true, isDelta: () => false, notes: [] }
}

/** In the order of writing. */
function partsOfRosters(): readonly Part[] {
  return parts.filter((part) => rosterParts.some((name) => name === rosterPartOf(part)))
}

async function find({ io, profiles, sessionWith, sessionAt }: Context, given: string): Promise<Named> {
  const [, profile] = /^profile:(.+)$/.exec(given) ?? []
  if (profile !== undefined) return { session: sessionWith(profile) }
  if (given === '-' || integrationIn(given)) return { path: given }
  const path = resolve(io.cwd, given)
  const found = await stat(path).catch(() => null)
  if (found) return (await isDatabase(path)) ? { session: sessionAt(path) } : { path: given }
  if (profileOf(profiles.read(), given)) return { session: sessionWith(given) }
  throw new UsageError(`Cannot find ${given}`, {
    why: ['It is neither a file or folder nor the name of a profile'],
    hint: 'learnctl profiles list',
  })
}

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
