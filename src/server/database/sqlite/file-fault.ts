import { DatabaseError } from '../database.ts'

/** Wraps any error of a database file as a DatabaseError. */
export function databaseErrorOf(path: string, error: unknown): DatabaseError {
  return error instanceof DatabaseError ? error : new DatabaseError(path, reasonOf(error), { cause: error })
}

/** Returns the message of SQLite or the file system, without stack and code. */
export function reasonOf(error: unknown): string {
  const {
    code,
    errcode: extended = 0,
    message,
  } = error as { code?: string; errcode?: number; message?: string }
  // The lowest byte is the primary result code (SQLite, Result and Error Codes).
  const errcode = extended & 0xff
  if (errcode === 11) return 'is damaged, or part of it is missing'
  if (errcode === 26) return 'is not a SQLite database'
  if (errcode === 5 || errcode === 6) return 'is locked by another process'
  if (errcode === 8 || code === 'EROFS') return 'is read-only'
  if (errcode === 10) return 'cannot be read or written: the disk reports an error'
  if (errcode === 13 || code === 'ENOSPC') return 'cannot be written: the disk is full'
  if (code === 'EACCES' || code === 'EPERM') return 'cannot be opened: permission denied'
  if (code === 'EISDIR') return 'is a directory'
  if (code === 'ENOTDIR' || code === 'EEXIST') return 'cannot be created: part of its path is a file'
  return `cannot be opened: ${message ?? String(error)}`
}
