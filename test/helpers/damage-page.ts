import { closeSync, openSync, writeSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

/** Overwrites the first page of a table, whose other pages stay as they are. */
export function damagePage(path: string, table: string): void {
  const file = new DatabaseSync(path)
  file.exec('pragma wal_checkpoint(truncate)')
  const root = Number(
    file.prepare('select rootpage from sqlite_schema where name = ?').get(table)?.['rootpage'],
  )
  const bytes = Number(file.prepare('pragma page_size').get()?.['page_size'])
  file.close()
  const handle = openSync(path, 'r+')
  writeSync(handle, Buffer.alloc(bytes, 0xff), 0, bytes, (root - 1) * bytes)
  closeSync(handle)
}
