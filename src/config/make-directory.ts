import { mkdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { directories, type Place } from './directories.ts'
import { ConfigError, systemCode } from './errors.ts'

/**
 * Makes a directory and those above it that are missing, each for its owner alone. Throws a ConfigError that names the
 * directory and the variable that moves it.
 */
export function makeDirectory(path: string, variable: string | null): void {
  const missing: string[] = []
  // Node's own recursive mkdir never returns where a file system says that a directory is not there and lets none be
  // made, as below /proc: it takes the answer for a missing parent, again and again.
  for (let each = resolve(path); !exists(each); each = dirname(each)) missing.unshift(each)
  for (const each of missing) {
    try {
      mkdirSync(each, { mode: 0o700 })
    } catch (error) {
      // Another process was quicker.
      if (systemCode(error) !== 'EEXIST' || !exists(each)) throw unwritable(each, error, variable)
    }
  }
  if (!statSync(path).isDirectory()) {
    throw unwritable(path, Object.assign(new Error('not a directory'), { code: 'ENOTDIR' }), variable)
  }
}

/** Makes the directory that a database is in. Throws as makeDirectory does. */
export function makeDatabaseDirectory(place: Place, database: string): void {
  makeDirectory(dirname(database), database === directories(place).database ? 'XDG_DATA_HOME' : null)
}

/** A failed write as a ConfigError with what to set; what is no fault of the file system as it is. */
export function unwritable(path: string, error: unknown, variable: string | null): unknown {
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
    return false // Below a file, or below what may not be looked into: making it will tell.
  }
}
