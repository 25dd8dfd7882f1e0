import { truncateSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { rebuildCounters } from '../../src/server/counters/recount.ts'
import { idMaker } from '../../src/server/database/id.ts'
import { migrate } from '../../src/server/database/migrations.ts'
import { makeFile } from '../../src/server/database/new-file.ts'
import { stoppedClock } from './academy.ts'

/** Makes an academy as an earlier version of the program left it. */
export async function oldAcademy(path: string, version: number): Promise<void> {
  const { now } = stoppedClock()
  const context = {
    now: now().toISOString(),
    newId: idMaker(now),
    newSecret: () => 'secret',
    rebuildCounters,
  }
  await makeFile(path, (database, draft) => migrate(database, draft, context, version))
}

/** The same, in a file that is as large as one whose upgrade takes long: it ends in a hole. */
export async function largeOldAcademy(path: string, version: number): Promise<void> {
  await oldAcademy(path, version)
  truncateSync(path, 100 * 1024 * 1024)
}

/** Keeps others from writing, such as the upgrade that is to be looked at, until the database is closed. */
export function locked(path: string): DatabaseSync {
  const database = new DatabaseSync(path)
  database.exec('begin immediate')
  return database
}
