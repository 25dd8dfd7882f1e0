import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

/** Length of the header of a SQLite file, and offsets in it (SQLite, Database File Format §1.3). */
const headBytes = 100
const magic = 'SQLite format 3\0'
const versionAt = 60
const applicationAt = 68

/**
 * True if the file has at least this size and an earlier schema version, judged by its header: recent writes may
 * still be in the log. False for a file that cannot be read.
 */
export function isLongUpgrade(
  path: string,
  { largeBytes, applicationId, newest }: { largeBytes: number; applicationId: number; newest: number },
): boolean {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch {
    return false
  }
  try {
    const head = Buffer.alloc(headBytes)
    if (fstatSync(file).size < largeBytes || readSync(file, head) < headBytes) return false
    if (head.toString('latin1', 0, magic.length) !== magic) return false
    const version = head.readUInt32BE(versionAt)
    return head.readUInt32BE(applicationAt) === applicationId && version > 0 && version < newest
  } finally {
    closeSync(file)
  }
}
