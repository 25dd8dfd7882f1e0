import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { benchApply } from './apply.ts'
import { benchConnect } from './connect.ts'
import { benchExec } from './exec.ts'
import { benchExport } from './export.ts'
import { benchGrowth } from './growth.ts'
import { benchImport } from './import.ts'
import { benchInbox } from './inbox.ts'
import { benchPostgres } from './postgres.ts'
import { benchRoster } from './roster.ts'
import { type BenchRow, tableOf } from './row.ts'
import { benchServer } from './server.ts'
import { benchStart } from './start.ts'
import { benchWebhooks } from './webhooks.ts'

// Runs `npm run bench [start|exec|server|export|import|inbox|connect|webhooks|growth|postgres …]`: each figure is the ratio of
// two measurements made alternately in this run.

const parts: Readonly<Record<string, (bin: string, directory: string) => Promise<BenchRow[]>>> = {
  start: benchStart,
  exec: benchExec,
  server: benchServer,
  export: benchExport,
  import: benchImport,
  apply: benchApply,
  roster: benchRoster,
  inbox: benchInbox,
  connect: benchConnect,
  webhooks: benchWebhooks,
  growth: benchGrowth,
  postgres: benchPostgres,
}

/** Skipped unless named: growth and roster make academies of a hundred thousand users, postgres needs PostgreSQL. */
const onDemand = ['growth', 'postgres', 'roster']

const wanted = process.argv.slice(2)
const bin = join(import.meta.dirname, '..', '..', 'bin', 'learnctl.js')
const directory = mkdtempSync(join(tmpdir(), 'learnctl-bench-'))
const rows: BenchRow[] = []
try {
  for (const [name, bench] of Object.entries(parts)) {
    if (wanted.length > 0 ? !wanted.includes(name) : onDemand.includes(name)) continue
    process.stderr.write(`${name} …\n`)
    rows.push(...(await bench(bin, directory)))
  }
} finally {
  rmSync(directory, { recursive: true, force: true })
}
process.stdout.write(
  `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}\n\n${tableOf(rows)}\n`,
)
