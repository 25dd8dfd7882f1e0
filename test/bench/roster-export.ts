import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { makeAcademyOf } from './growth-seed.ts'
import { median, peakMiB } from './measure.ts'
import type { BenchRow } from './row.ts'

const rounds = 3

/** Measures rows per second and memory of `roster export` as OneRoster, from a local academy of this size. */
export async function benchRosterExport(bin: string, directory: string, users: number): Promise<BenchRow[]> {
  const database = join(directory, 'roster-export.db')
  await makeAcademyOf({ users, courses: Math.max(100, users / 100), enrollments: users * 4 }, database)
  const runs: Exported[] = []
  for (let round = 0; round < rounds; round += 1) {
    const target = join(directory, `exported-${round}`)
    runs.push(await exported(bin, database, target))
    rmSync(target, { recursive: true })
  }
  const [rows = 0] = runs.map((run) => run.rows)
  const ms = median(runs.map((run) => run.ms))
  const size = `${rows.toLocaleString('en')} rows in ${(ms / 1000).toFixed(2)} s, ${rounds} rounds`
  return [
    {
      figure: 'roster export: rows per second',
      value: median(runs.map((run) => run.rows / (run.ms / 1000))),
      unit: 'rows/s',
      goal: 100_000,
      better: 'more',
      from: size,
    },
    {
      figure: 'roster export: peak memory',
      value: Math.max(...runs.map(({ peak }) => peak)),
      unit: 'MiB',
      goal: 400,
      better: 'less',
      from: size,
    },
  ]
}

interface Exported {
  readonly rows: number
  readonly ms: number
  readonly peak: number
}

async function exported(bin: string, database: string, target: string): Promise<Exported> {
  const startedMs = performance.now()
  const words = ['roster', 'export', '--format', 'oneroster', target, '--database', database, '-o', 'json']
  const child = spawn(process.execPath, [bin, ...words], { stdio: ['ignore', 'pipe', 'ignore'] })
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text
  })
  let peak = 0
  const watch = setInterval(() => {
    peak = Math.max(peak, peakMiB(child.pid ?? 0) ?? 0)
  }, 20)
  const [code] = (await once(child, 'close')) as [number | null]
  clearInterval(watch)
  if (code !== 0) throw new Error(`roster export ended with ${code}`)
  const { files } = JSON.parse(printed) as { files: readonly { rows: number }[] }
  const rows = files.reduce((sum, file) => sum + file.rows, 0)
  return { rows, ms: performance.now() - startedMs, peak }
}
