import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { comparePairs, watchLearnctl } from './measure.ts'
import { writeOpenUniversity } from './open-university.ts'
import { atMost, type BenchRow } from './row.ts'

const rounds = 3
const examples = join(import.meta.dirname, '../../src/examples')

/**
 * Measures time and memory of applying an academy of files to an empty academy in process, and of applying it again.
 * LEARNCTL_OPEN_UNIVERSITY is the folder of that dataset's CSV files; without it, the shipped examples are applied.
 */
export async function benchApply(bin: string, directory: string): Promise<BenchRow[]> {
  const source = process.env['LEARNCTL_OPEN_UNIVERSITY']
  const folder = join(directory, 'academy')
  mkdirSync(folder)
  const size = source ? writeOpenUniversity(source, folder) : writeExamples(folder)
  const pairs: [again: number, first: number][] = []
  const peaks: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const database = join(directory, `apply-${round}.db`)
    const apply = () => watchLearnctl(bin, ['apply', folder, '--yes', '--database', database])
    const first = await apply()
    const second = await apply()
    pairs.push([second.ms, first.ms])
    peaks.push(first.peak, second.peak)
    rmSync(database)
  }
  const { mine, theirs, ratio } = comparePairs(pairs)
  const what = `${size.records.toLocaleString('en')} records, ${size.steps.toLocaleString('en')} steps of progress`
  return [
    {
      figure: 'apply: again over the first time',
      value: ratio,
      ...atMost(0.5),
      from: `${(mine / 1000).toFixed(2)} s over ${(theirs / 1000).toFixed(2)} s, ${what}, ${rounds} rounds`,
    },
    {
      figure: 'apply: peak memory',
      value: Math.max(...peaks),
      ...atMost(200, 'MiB'),
      from: what,
    },
  ]
}

function writeExamples(folder: string): { records: number; steps: number } {
  const tables = ['users', 'enrollments', 'progress']
  for (const name of tables) cpSync(join(examples, `${name}.csv`), join(folder, `${name}.csv`))
  const courses = ['2013J', '2014J'].map((title) => ({ externalId: `AAA-${title}`, title }))
  const named = Object.fromEntries(tables.map((name) => [name, { file: `${name}.csv` }]))
  writeFileSync(join(folder, 'academy.json'), JSON.stringify({ learnctl: 1, courses, ...named }))
  return { records: 1_866, steps: 1_792 }
}
