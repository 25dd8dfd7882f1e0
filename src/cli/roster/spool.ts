import { createHash } from 'node:crypto'
import { appendFileSync, chmodSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isJsonObject, parseJsonOrNull } from '../../codec/json-text.ts'
import { makeDirectory } from '../../config/files.ts'

/** Time after which pages are read anew: the other system may have changed. */
const maxAgeMs = 60 * 60 * 1000

/** Pages that were read, kept on disk until all have been: an interrupted reading continues with them. */
export interface Spool {
  readonly count: number
  get(key: string): unknown
  add(key: string, page: unknown): void
  remove(): void
}

/** Opens the pages of an interrupted reading with this identity; empty if there is none within the hour. Only its owner can read the file. */
export function openSpool(directory: string, identity: readonly string[], now: number): Spool {
  const folder = join(directory, 'readings')
  makeDirectory(folder, 'XDG_STATE_HOME')
  const name = createHash('sha256').update(identity.join('\n')).digest('hex').slice(0, 24)
  const path = join(folder, `${name}.jsonl`)
  removeOld(folder, path, now)
  const pages = pagesIn(path, now)
  if (pages.size === 0) rmSync(path, { force: true })
  let isNew = pages.size === 0
  return {
    get count() {
      return pages.size
    },
    get: (key) => pages.get(key),
    add(key, page) {
      pages.set(key, page)
      appendFileSync(path, `${JSON.stringify({ at: now, key, page })}\n`, { mode: 0o600 })
      if (isNew) chmodSync(path, 0o600)
      isNew = false
    },
    remove: () => rmSync(path, { force: true }),
  }
}

/** Deletes the other readings that are too old to continue: they hold the names of people. */
function removeOld(folder: string, current: string, now: number): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? {}
    if (path !== current && mtimeMs !== undefined && now - mtimeMs >= maxAgeMs) rmSync(path, { force: true })
  }
}

function pagesIn(path: string, now: number): Map<string, unknown> {
  const pages = new Map<string, unknown>()
  if (!statSync(path, { throwIfNoEntry: false })) return pages
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    // The last line may have been cut.
    const entry = line === '' ? null : parseJsonOrNull(line)
    if (!isJsonObject(entry)) continue
    const { at, key, page } = entry
    if (typeof at === 'number' && typeof key === 'string' && now - at < maxAgeMs) pages.set(key, page)
  }
  return pages
}
