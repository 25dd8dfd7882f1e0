import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

/** The head of a SQLite file, and where what is asked stands in it (SQLite, Database File Format §1.3). */
const headBytes = 100
const magic = 'SQLite format 3\0'
const versionAt = 60
const applicationAt = 68

/**
 * Whether the file is at least this large and of an earlier version, as far as its first bytes tell: what was written last
 * may not be in them yet. False for a file that cannot be read.
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
