import { join } from 'node:path'
import { makeAcademyOf } from './growth-seed.ts'
import { measureMs, median } from './measure.ts'
import type { BenchRow } from './row.ts'

const rounds = 3
const size = { users: 20_000, courses: 100, enrollments: 200_000 }

/** Measures `learnctl analytics at-risk --all` on a local academy, the start of the program included. */
export async function benchAtRisk(bin: string, directory: string): Promise<BenchRow[]> {
  const database = join(directory, 'at-risk.db')
  await makeAcademyOf(size, database)
  const words = ['analytics', 'at-risk', '--all', '-o', 'csv', '--database', database]
  const times: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    times.push(await measureMs(process.execPath, [bin, ...words], { stdout: 'pipe' }))
  }
  return [
    {
      figure: 'learners at risk',
      value: median(times) / 1000,
      unit: 's',
      goal: 2,
      better: 'less',
      from: `all of ${size.enrollments.toLocaleString('en')} enrolments as CSV, ${rounds} rounds`,
    },
  ]
}
