import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { benchAnalytics } from './analytics.ts'
import { benchApply } from './apply.ts'
import { benchAtRisk } from './at-risk.ts'
import { benchConnect } from './connect.ts'
import { benchExec } from './exec.ts'
import { benchExport } from './export.ts'
import { benchGrowth } from './growth.ts'
import { benchImport } from './import.ts'
import { benchInbox } from './inbox.ts'
import { benchMcp } from './mcp.ts'
import { benchPackaging } from './packaging.ts'
import { benchPostgres } from './postgres.ts'
import { benchRoster } from './roster.ts'
import { type BenchRow, tableOf } from './row.ts'
import { benchServer } from './server.ts'
import { benchStart } from './start.ts'
import { benchWebhooks } from './webhooks.ts'

// Runs `npm run bench [start|exec|mcp|server|export|at-risk|import|inbox|connect|webhooks|packaging|analytics|growth|postgres …]`: each figure is the
// ratio of two measurements made alternately in this run.

const parts: Readonly<Record<string, (bin: string, directory: string) => Promise<BenchRow[]>>> = {
  start: benchStart,
  exec: benchExec,
  mcp: benchMcp,
  server: benchServer,
  export: benchExport,
  'at-risk': benchAtRisk,
  import: benchImport,
  apply: benchApply,
  roster: benchRoster,
  inbox: benchInbox,
  connect: benchConnect,
  webhooks: benchWebhooks,
  packaging: benchPackaging,
  analytics: benchAnalytics,
  growth: benchGrowth,
  postgres: benchPostgres,
}

/** Skipped unless named: analytics, growth and roster write a hundred thousand records and more, postgres needs PostgreSQL. */
const onDemand = ['analytics', 'growth', 'postgres', 'roster']

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
