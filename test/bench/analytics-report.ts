import { statSync } from 'node:fs'
import { join } from 'node:path'
import { makeAcademyOf } from './growth-seed.ts'
import { measureMs, median } from './measure.ts'
import { atMost, type BenchRow } from './row.ts'

const rounds = 3
const size = { users: 10_000, courses: 100, enrollments: 100_000 }

/** Measures `learnctl report` of 100 courses from a local academy, the start of the program included. */
export async function benchReport(bin: string, directory: string): Promise<BenchRow[]> {
  const database = join(directory, 'report.db')
  await makeAcademyOf(size, database)
  const file = join(directory, 'report.html')
  const words = ['report', '--last', '1y', '--file', file, '--force', '--database', database]
  const times: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    times.push(await measureMs(process.execPath, [bin, ...words]))
  }
  const from = `${size.courses} courses, ${size.enrollments.toLocaleString('en')} enrolments, ${rounds} rounds`
  return [
    {
      figure: 'report of 100 courses',
      value: median(times) / 1000,
      ...atMost(3, 's'),
      from,
    },
    {
      figure: 'report of 100 courses: size',
      value: statSync(file).size / 1024 / 1024,
      ...atMost(1, 'MiB'),
      from,
    },
  ]
}
