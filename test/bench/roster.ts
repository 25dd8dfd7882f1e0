import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { writePackage } from '../helpers/oneroster-package.ts'
import { makeAcademyOf } from './growth-seed.ts'
import { atLeast, atMost, type BenchRow, comparePairs, measureMs, median, watchLearnctl } from './measure.ts'

const users = Number(process.env['LEARNCTL_ROSTER_USERS'] ?? 100_000)
const enrollments = users * 4
const rounds = 3

/**
 * Measures rosters with a OneRoster package of 100,000 users, or LEARNCTL_ROSTER_USERS, and four times as many
 * enrolments: `roster validate` against csv-parse reading the same files, `roster export`, `roster apply` to an empty
 * academy in this process and again, `roster diff` of two packages, and their memory.
 */
export async function benchRoster(bin: string, directory: string): Promise<BenchRow[]> {
  return [
    ...(await benchValidate(bin, directory)),
    ...(await benchExport(bin, directory)),
    ...(await benchApply(bin, directory)),
  ]
}

async function benchApply(bin: string, directory: string): Promise<BenchRow[]> {
  const [folder, next] = [join(directory, 'apply'), join(directory, 'apply-next')]
  await writePackage(folder, { users, enrollments })
  // Other people and enrolments at the end.
  await writePackage(next, { users: users + 500, enrollments: enrollments + 1000 })
  const applies: [again: number, first: number][] = []
  const diffs: number[] = []
  let [applyPeak, diffPeak] = [0, 0]
  for (let round = 0; round < rounds; round += 1) {
    const database = join(directory, `roster-${round}.db`)
    const apply = () => watchLearnctl(bin, ['roster', 'apply', folder, '--yes', '--database', database])
    const [first, second] = [await apply(), await apply()]
    const diff = await watchLearnctl(bin, ['roster', 'diff', folder, next, '-o', 'jsonl'], { expected: 9 })
    applies.push([second.ms, first.ms])
    diffs.push(diff.ms)
    applyPeak = Math.max(applyPeak, first.peak, second.peak)
    diffPeak = Math.max(diffPeak, diff.peak)
    for (const ending of ['', '-wal', '-shm']) rmSync(database + ending, { force: true })
  }
  const { mine: second, theirs: first, ratio } = comparePairs(applies)
  const [rows, size] = [users + enrollments, `${users} users, ${enrollments} enrolments, ${rounds} rounds`]
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
  return [
    {
      figure: 'roster apply to an empty academy, with the check',
      value: (rows / first) * 1000,
      ...atLeast(10_000, 'rows/s'),
      from: `${size}: ${seconds(first)}`,
    },
    {
      figure: 'roster apply again / the first time',
      value: ratio,
      ...atMost(0.2),
      from: `${seconds(second)} over ${seconds(first)}`,
    },
    { figure: 'roster diff of two packages', value: median(diffs) / 1000, ...atMost(15, 's'), from: size },
    { figure: 'memory of roster apply', value: applyPeak, ...atMost(1024, 'MiB'), from: size },
    { figure: 'memory of roster diff', value: diffPeak, ...atMost(1024, 'MiB'), from: size },
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
    const ours = await watchLearnctl(bin, ['roster', 'validate', folder, '-o', 'json'])
    peak = Math.max(peak, ours.peak)
    pairs.push([ours.ms, await measureMs(process.execPath, [bare, ...paths])])
  }
  const { mine, theirs, ratio } = comparePairs(pairs)
  const size = `${users} users, ${enrollments} enrolments`
  return [
    {
      figure: 'roster validate / csv-parse',
      value: ratio,
      ...atMost(3),
      from: `${size}: ${Math.round(mine)} ms, csv-parse ${Math.round(theirs)} ms`,
    },
    { figure: 'memory of roster validate', value: peak, ...atMost(400, 'MiB'), from: size },
  ]
}

/** Measures rows per second and memory of `roster export` as OneRoster, from a local academy of this size. */
async function benchExport(bin: string, directory: string): Promise<BenchRow[]> {
  const database = join(directory, 'roster-export.db')
  await makeAcademyOf({ users, courses: Math.max(100, users / 100), enrollments: users * 4 }, database)
  const runs: Awaited<ReturnType<typeof exported>>[] = []
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

async function exported(bin: string, database: string, target: string) {
  const words = ['roster', 'export', '--format', 'oneroster', target, '--database', database, '-o', 'json']
  const { ms, peak, printed } = await watchLearnctl(bin, words)
  const { files } = JSON.parse(printed) as { files: readonly { rows: number }[] }
  return { rows: files.reduce((sum, file) => sum + file.rows, 0), ms, peak }
}
