import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openAcademyFile } from '../../src/server/academy/open-academy.ts'
import { hmacKeyOf, newHmacKey } from '../../src/server/access/secret.ts'
import { firstIdAt, type IdMaker } from '../../src/server/database/id.ts'
import { freshDirectory } from './fresh-directory.ts'

/** The time at which every test begins. */
export const start = '2026-03-01T12:00:00.000Z'

/** A new academy of which the tests of a worker get copies: making one takes longer than most of them. */
let original: Promise<{ bytes: Buffer; keyAt: number }> | undefined

/** Puts a new academy, made at `start`, into a file that is not there yet. It shares no secret with another. */
export async function putNewAcademy(path: string): Promise<void> {
  original ??= makeOriginal()
  const { bytes, keyAt } = await original
  const copy = Buffer.from(bytes)
  copy.write(newHmacKey(), keyAt)
  writeFileSync(path, copy, { flag: 'wx', mode: 0o600 })
}

async function makeOriginal(): Promise<{ bytes: Buffer; keyAt: number }> {
  const { path: directory, remove } = freshDirectory()
  try {
    const path = join(directory, 'academy.db')
    const options = { ids: earliestIds(), temporary: true }
    const { database } = await openAcademyFile(path, () => new Date(start), options)
    const key = await hmacKeyOf(database)
    await database.close()
    const bytes = readFileSync(path)
    return { bytes, keyAt: bytes.indexOf(key) }
  } finally {
    remove()
  }
}

/** Makes the first ids of the millisecond of `start`: what a test makes in that comes after them. */
function earliestIds(): IdMaker {
  let count = 0
  return (prefix) => {
    count += 1
    return firstIdAt(prefix, Date.parse(start)) + count.toString(16).padStart(12, '0').padEnd(20, '0')
  }
}
