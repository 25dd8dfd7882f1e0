import { closeSync, openSync, writeSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

// Yardstick without sqlite3: a bare loop of node:sqlite that writes the rows of a statement.

const [path = '', statement = '', file = ''] = process.argv.slice(2)
const rows = new DatabaseSync(path, { readOnly: true }).prepare(statement)
rows.setReturnArrays(true)
const out = openSync(file, 'w')
let text = ''
for (const cells of rows.iterate() as unknown as Iterable<unknown[]>) {
  text += `${cells.map((cell) => (/[",\n]/.test(String(cell ?? '')) ? `"${String(cell).replaceAll('"', '""')}"` : (cell ?? ''))).join(',')}\n`
  if (text.length < 65_536) continue
  writeSync(out, text)
  text = ''
}
writeSync(out, text)
closeSync(out)
