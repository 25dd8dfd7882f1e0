import type { ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'

/** Kills a process after it made this many changes in the academy of a database. */
export async function killAt(child: ChildProcess, path: string, changes: number): Promise<void> {
  const end = changesIn(path) + changes
  const isRunning = () => child.exitCode === null && child.signalCode === null
  while (isRunning() && changesIn(path) < end) await setTimeout(1)
  child.kill('SIGKILL')
}

/** Number of changes that an academy records. */
function changesIn(path: string): number {
  if (!existsSync(path)) return 0
  const database = new DatabaseSync(path, { readOnly: true, timeout: 30_000 })
  try {
    return Number(database.prepare('select count(*) as changes from audit_entries').get()?.['changes'])
  } finally {
    database.close()
  }
}
