import { mkdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { directoriesOf, type Place } from './directories.ts'
import { ConfigError, systemCode } from './errors.ts'

/**
 * Creates a directory and its missing parents, each for its owner only. Throws a ConfigError that names the
 * directory and the variable that moves it.
 */
export function makeDirectory(path: string, variable: string | null): void {
  const missing: string[] = []
  // Node's recursive mkdir loops forever on a file system that reports a missing directory but creates none,
  // such as /proc.
  for (let each = resolve(path); !exists(each); each = dirname(each)) missing.unshift(each)
  for (const each of missing) {
    try {
      mkdirSync(each, { mode: 0o700 })
    } catch (error) {
      // Another process may have created it.
      if (systemCode(error) !== 'EEXIST' || !exists(each)) throw unwritableError(each, error, variable)
    }
  }
  if (!statSync(path).isDirectory()) {
    throw unwritableError(path, Object.assign(new Error('not a directory'), { code: 'ENOTDIR' }), variable)
  }
}

/** Creates the directory of a database file. Throws as makeDirectory does. */
export function makeDatabaseDirectory(place: Place, database: string): void {
  makeDirectory(dirname(database), database === directoriesOf(place).database ? 'XDG_DATA_HOME' : null)
}

/** Converts a file system error of a write to a ConfigError with a hint; returns other errors unchanged. */
export function unwritableError(path: string, error: unknown, variable: string | null): unknown {
  const code = systemCode(error)
  if (error instanceof ConfigError || code === undefined || !/^E[A-Z]+$/.test(code)) return error
  return new ConfigError('config_unwritable', `Cannot write ${path}: ${code}`, {
    cause: error,
    ...(variable !== null && { hint: `Set ${variable} to a writable directory` }),
  })
}

function exists(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    return false // Below a file or an unreadable directory: mkdir will fail with the reason.
  }
}
