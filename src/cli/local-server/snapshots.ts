import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { systemCode } from '../../config/errors.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'

const nameForm = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/
const ending = '.db'

export interface Snapshot {
  readonly name: string
  /** ISO 8601, UTC. */
  readonly createdAt: string
  readonly bytes: number
  readonly path: string
}

export function snapshotFolder(database: string): string {
  return `${database}.snapshots`
}

/** The snapshot need not exist. Throws a UsageError on an invalid name. */
export function snapshotPath(database: string, name: string): string {
  if (nameForm.test(name)) return join(snapshotFolder(database), name + ending)
  throw new UsageError(
    `A snapshot's name must be up to 64 letters, digits, dots, - and _, and begin with a letter or digit, not ${JSON.stringify(name)}`,
  )
}

/** Newest first. */
export function snapshotsOf(database: string): Snapshot[] {
  const folder = snapshotFolder(database)
  const names = namesIn(folder).flatMap((file) =>
    file.endsWith(ending) ? [file.slice(0, -ending.length)] : [],
  )
  return names
    .filter((name) => nameForm.test(name))
    .map((name) => {
      const path = join(folder, name + ending)
      const { mtimeMs, size } = statSync(path)
      return { name, createdAt: new Date(mtimeMs).toISOString(), bytes: size, path }
    })
    .sort((one, other) => other.createdAt.localeCompare(one.createdAt) || one.name.localeCompare(other.name))
}

export function findSnapshot(database: string, name: string | undefined): Snapshot {
  const snapshots = snapshotsOf(database)
  if (name !== undefined) snapshotPath(database, name)
  const found = name === undefined ? snapshots[0] : snapshots.find((each) => each.name === name)
  if (found) return found
  throw new CommandError(
    'not_found',
    'notFound',
    name === undefined ? `No snapshots of ${database}` : `Snapshot not found: ${name}`,
    name === undefined || snapshots.length === 0
      ? { hint: 'Save one: learnctl server snapshot save' }
      : {
          hint: 'List snapshots: learnctl server snapshot list',
          choice: { given: name, valid: snapshots.map((each) => each.name) },
        },
  )
}

/** Returns the default name of a snapshot, its time: `2026-03-01T120000Z`. */
export function defaultSnapshotName(nowMs: number): string {
  return `${new Date(nowMs).toISOString().slice(0, 19).replaceAll(':', '')}Z`
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return []
    throw error
  }
}
