import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
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
 * enrolments: `roster validate` against csv-parse reading the same files, `roster export`, `roster apply` to an empty
 * academy in this process and again, `roster diff` of two packages, and their memory.
 */
export async function benchRoster(bin: string, directory: string): Promise<BenchRow[]> {
  return [...(await benchValidate(bin, directory)), ...(await benchApply(bin, directory))]
}

async function benchApply(bin: string, directory: string): Promise<BenchRow[]> {
  const [folder, next] = [join(directory, 'apply'), join(directory, 'apply-next')]
  await writePackage(folder, { users, enrollments })
  // Other people and enrolments at the end.
  await writePackage(next, { users: users + 500, enrollments: enrollments + 1000 })
  const applies: [first: number, second: number][] = []
  const diffs: number[] = []
  let [applyPeak, diffPeak] = [0, 0]
  for (let round = 0; round < rounds; round += 1) {
    const database = join(directory, `roster-${round}.db`)
    const apply = () => ran(bin, ['roster', 'apply', folder, '--yes', '--database', database])
    const [first, second] = [await apply(), await apply()]
    const diff = await ran(bin, ['roster', 'diff', folder, next, '-o', 'jsonl'], 9)
    applies.push([first.ms, second.ms])
    diffs.push(diff.ms)
    applyPeak = Math.max(applyPeak, first.peak, second.peak)
    diffPeak = Math.max(diffPeak, diff.peak)
    for (const ending of ['', '-wal', '-shm']) rmSync(database + ending, { force: true })
  }
  const [first, second] = [median(applies.map(([one]) => one)), median(applies.map(([, other]) => other))]
  const [rows, size] = [users + enrollments, `${users} users, ${enrollments} enrolments, ${rounds} rounds`]
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
  return [
    {
      figure: 'roster apply to an empty academy, with the check',
      value: (rows / first) * 1000,
      unit: 'rows/s',
      goal: 10_000,
      better: 'more',
      from: `${size}: ${seconds(first)}`,
    },
    {
      figure: 'roster apply again / the first time',
      value: median(applies.map(([one, other]) => other / one)),
      unit: 'ratio',
      goal: 0.2,
      better: 'less',
      from: `${seconds(second)} over ${seconds(first)}`,
    },
    {
      figure: 'roster diff of two packages',
      value: median(diffs) / 1000,
      unit: 's',
      goal: 15,
      better: 'less',
      from: size,
    },
    {
      figure: 'memory of roster apply',
      value: applyPeak,
      unit: 'MiB',
      goal: 1024,
      better: 'less',
      from: size,
    },
    { figure: 'memory of roster diff', value: diffPeak, unit: 'MiB', goal: 1024, better: 'less', from: size },
  ]
}

async function benchValidate(bin: string, directory: string): Promise<BenchRow[]> {
  const folder = join(directory, 'roster')
  const odd = { misspelledRole: 1000, repeatedUser: 5000, filledStatus: 700, unknownSchool: 4000 }
  const paths = await writePackage(folder, { users, enrollments, ...odd })
  const bare = join(import.meta.dirname, 'bare-csv.ts')
  const pairs: [number, number][] = []
  let peak = 0
  for (let round = 0; round < rounds; round += 1) {
    const ours = await ran(bin, ['roster', 'validate', folder, '-o', 'json'])
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

/** Runs a command line that must end with this code. */
async function ran(
  bin: string,
  words: readonly string[],
  expected = 0,
): Promise<{ readonly ms: number; readonly peak: number }> {
  const startedMs = performance.now()
  const child = spawn(process.execPath, [bin, ...words], { stdio: 'ignore' })
  let peak = 0
  const watch = setInterval(() => {
    peak = Math.max(peak, peakMiB(child.pid ?? 0) ?? 0)
  }, 20)
  const [code] = (await once(child, 'close')) as [number | null]
  clearInterval(watch)
  if (code !== expected) throw new Error(`learnctl ${words.join(' ')} ended with ${code}`)
  return { ms: performance.now() - startedMs, peak }
}
