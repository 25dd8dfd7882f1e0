import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openAcademyFile } from '../../src/server/academy/open-academy.ts'
import { hmacKeyOf, newHmacKey } from '../../src/server/access/secret.ts'
import { firstIdAt, type IdMaker } from '../../src/server/database/id.ts'
import { freshDirectory } from './fresh-directory.ts'

/** Time at which every test begins. */
export const start = '2026-03-01T12:00:00.000Z'

/** A new academy, which takes longer to make than most tests: the tests of a worker copy it. */
let original: Promise<{ bytes: Buffer; keyAt: number }> | undefined

/** Puts a new academy, made at `start`, into a file that does not exist yet. It shares no secret with another. */
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

/** Uses up the first ids of the millisecond of `start`: ids that a test makes in it come later. */
function earliestIds(): IdMaker {
  let count = 0
  return (prefix) => {
    count += 1
    return firstIdAt(prefix, Date.parse(start)) + count.toString(16).padStart(12, '0').padEnd(20, '0')
  }
}

/** Returns all rows of an academy's database as JSON, except stored responses. */
export function allRows(path: string): string {
  using database = new DatabaseSync(path, { readOnly: true })
  const tables = database
    .prepare("select name from sqlite_schema where type = 'table' and rootpage > 0")
    .all()
  const rows = tables
    .map(({ name }) => String(name))
    .filter((name) => name !== 'idempotency' && !name.startsWith('sqlite_'))
    .map((name) => [name, database.prepare(`select * from "${name}"`).all()])
  return JSON.stringify(rows, (_, value: unknown) => (value instanceof Uint8Array ? [...value] : value))
}
