import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { benchAnalytics, benchAtRisk } from './analytics.ts'
import { benchConnect } from './connect.ts'
import { benchExport } from './export.ts'
import { benchGrowth } from './growth.ts'
import { benchApply, benchImport } from './import.ts'
import { benchInbox } from './inbox.ts'
import type { BenchRow } from './measure.ts'
import { benchPackaging } from './packaging.ts'
import { benchPostgres } from './postgres.ts'
import { benchRoster } from './roster.ts'
import { benchServer } from './server.ts'
import { benchExec, benchMcp, benchStart } from './start.ts'
import { benchWebhooks } from './webhooks.ts'

// Runs `npm run bench [part …]`: each figure is the ratio of two measurements made alternately in this run.

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

/** Formats rows as a table for a terminal or a note. */
function tableOf(all: readonly BenchRow[]): string {
  const cells = all.map(({ figure, value, unit, goal, better, from }) => {
    const met = better === 'more' ? value >= goal : value <= goal
    const shown = unit === 'ratio' ? value.toFixed(2) : `${Math.round(value * 10) / 10} ${unit}`
    const wanted = `${better === 'more' ? '≥' : '≤'} ${goal}${unit === 'ratio' ? '' : ` ${unit}`}`
    return [figure, shown, wanted, met ? 'met' : 'missed', from]
  })
  const lines = [['figure', 'measured', 'goal', '', 'from'], ...cells]
  const widths = [0, 1, 2, 3].map((column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
