import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { makeAcademyOf } from './growth-seed.ts'
import { median, watchLearnctl } from './measure.ts'
import { atLeast, atMost, type BenchRow } from './row.ts'

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
      ...atLeast(100_000, 'rows/s'),
      from: size,
    },
    {
      figure: 'roster export: peak memory',
      value: Math.max(...runs.map(({ peak }) => peak)),
      ...atMost(400, 'MiB'),
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
  const words = ['roster', 'export', '--format', 'oneroster', target, '--database', database, '-o', 'json']
  const { ms, peak, printed } = await watchLearnctl(bin, words)
  const { files } = JSON.parse(printed) as { files: readonly { rows: number }[] }
  return { rows: files.reduce((sum, file) => sum + file.rows, 0), ms, peak }
}
