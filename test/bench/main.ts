import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { benchExport } from './export.ts'
import { benchGrowth } from './growth.ts'
import { type BenchRow, table } from './row.ts'
import { benchServer } from './server.ts'
import { benchStart } from './start.ts'

// npm run bench [start|server|export|growth …]: each figure is a ratio of two things measured in turn in this one run.

const parts: Readonly<Record<string, (bin: string, directory: string) => Promise<BenchRow[]>>> = {
  start: benchStart,
  server: benchServer,
  export: benchExport,
  growth: benchGrowth,
}

const wanted = process.argv.slice(2)
const bin = join(import.meta.dirname, '..', '..', 'bin', 'learnctl.js')
const directory = mkdtempSync(join(tmpdir(), 'learnctl-bench-'))
const rows: BenchRow[] = []
try {
  for (const [name, bench] of Object.entries(parts)) {
    // Growth is looked at by those who ask for it: it makes an academy of a hundred thousand users.
    if (wanted.length > 0 ? !wanted.includes(name) : name === 'growth') continue
    process.stderr.write(`${name} …\n`)
    rows.push(...(await bench(bin, directory)))
  }
} finally {
  rmSync(directory, { recursive: true, force: true })
}
process.stdout.write(
  `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}\n\n${table(rows)}\n`,
)
