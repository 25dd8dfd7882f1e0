import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { writePackage } from '../helpers/oneroster-package.ts'
import { measureMs, median, peakMiB } from './measure.ts'
import { benchRosterExport } from './roster-export.ts'
import type { BenchRow } from './row.ts'

const users = Number(process.env['LEARNCTL_ROSTER_USERS'] ?? 100_000)
const enrollments = users * 4
const rounds = 3

/**
 * Measures rosters with a OneRoster package of 100,000 users, or LEARNCTL_ROSTER_USERS, and four times as many
 * enrolments: `roster validate` against csv-parse reading the same files, its memory, and `roster export`.
 */
export async function benchRoster(bin: string, directory: string): Promise<BenchRow[]> {
  const folder = join(directory, 'roster')
  const odd = { misspelledRole: 1000, repeatedUser: 5000, filledStatus: 700, unknownSchool: 4000 }
  const paths = await writePackage(folder, { users, enrollments, ...odd })
  const bare = join(import.meta.dirname, 'bare-csv.ts')
  const pairs: [number, number][] = []
  let peak = 0
  for (let round = 0; round < rounds; round += 1) {
    const ours = await validated(bin, folder)
    peak = Math.max(peak, ours.peak)
    pairs.push([ours.ms, await measureMs(process.execPath, [bare, ...paths])])
  }
  const [ours, theirs] = [median(pairs.map(([one]) => one)), median(pairs.map(([, other]) => other))]
  const size = `${users} users, ${enrollments} enrolments`
  return [
    {
      figure: 'roster validate / csv-parse',
      value: median(pairs.map(([one, other]) => one / other)),
      unit: 'ratio',
      goal: 3,
      better: 'less',
      from: `${size}: ${Math.round(ours)} ms, csv-parse ${Math.round(theirs)} ms`,
    },
    { figure: 'memory of roster validate', value: peak, unit: 'MiB', goal: 400, better: 'less', from: size },
    ...(await benchRosterExport(bin, directory, users)),
  ]
}

async function validated(
  bin: string,
  folder: string,
): Promise<{ readonly ms: number; readonly peak: number }> {
  const startedMs = performance.now()
  const child = spawn(process.execPath, [bin, 'roster', 'validate', folder, '-o', 'json'], {
    stdio: 'ignore',
  })
  let peak = 0
  const watch = setInterval(() => {
    peak = Math.max(peak, peakMiB(child.pid ?? 0) ?? 0)
  }, 20)
  const [code] = (await once(child, 'close')) as [number | null]
  clearInterval(watch)
  if (code !== 0) throw new Error(`roster validate ended with ${code}`)
  return { ms: performance.now() - startedMs, peak }
}
