import sql from 'sql-template-tag'
import { openAcademyFile, openCopyFile, openModelAcademy } from '../academy.ts'
import type { Store } from '../database/database.ts'
import type { CopyOptions } from './copy-academy.ts'

/** What a copy needs open. */
export interface CopyEnds extends Pick<CopyOptions, 'from' | 'to' | 'model'> {
  readonly close: () => Promise<void>
}

/**
 * Opens both ends of a copy, the one to copy first: where that fails, nothing is made at the other. Throws DatabaseError.
 */
export async function openCopyEnds(from: string, to: string, now: () => Date): Promise<CopyEnds> {
  const open: Store[] = []
  const close = async () => {
    for (const store of open) await store.close()
  }
  const keep = (store: Store) => {
    open.push(store)
    return store
  }
  try {
    const source = keep((await openAcademyFile(from, now)).database)
    const target = keep((await openCopyFile(to, now)).database)
    await prepare(target)
    return {
      from: { database: source, shown: from },
      to: { database: target, shown: to },
      model: keep(await openModelAcademy(now)),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/**
 * Rows come in the order of their keys, and change pages all over the indexes: with those in memory, and written to the
 * file less often, a large academy is written several times faster.
 */
async function prepare(target: Store): Promise<void> {
  if (target.dialect.name !== 'sqlite') return
  await target.run(sql`pragma cache_size = -200000`)
  await target.run(sql`pragma wal_autocheckpoint = 20000`)
}
