import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { median, peakMiB } from './measure.ts'
import { writeOpenUniversity } from './open-university.ts'
import type { BenchRow } from './row.ts'

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
  const pairs: [first: number, second: number][] = []
  const peaks: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const database = join(directory, `apply-${round}.db`)
    const first = await applied(bin, folder, database)
    const second = await applied(bin, folder, database)
    pairs.push([first.ms, second.ms])
    peaks.push(first.peak, second.peak)
    rmSync(database)
  }
  const [one, two] = [median(pairs.map(([first]) => first)), median(pairs.map(([, second]) => second))]
  const what = `${size.records.toLocaleString('en')} records, ${size.steps.toLocaleString('en')} steps of progress`
  return [
    {
      figure: 'apply: again over the first time',
      value: median(pairs.map(([first, second]) => second / first)),
      unit: 'ratio',
      goal: 0.5,
      better: 'less',
      from: `${(two / 1000).toFixed(2)} s over ${(one / 1000).toFixed(2)} s, ${what}, ${rounds} rounds`,
    },
    {
      figure: 'apply: peak memory',
      value: Math.max(...peaks),
      unit: 'MiB',
      goal: 200,
      better: 'less',
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

async function applied(bin: string, folder: string, database: string): Promise<{ ms: number; peak: number }> {
  const startedMs = performance.now()
  const child = spawn(process.execPath, [bin, 'apply', folder, '--yes', '--database', database], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let told = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    told += text
  })
  let peak = 0
  const watch = setInterval(() => {
    peak = peakMiB(child.pid ?? 0) ?? peak
  }, 20)
  const [code] = (await once(child, 'close')) as [number | null]
  clearInterval(watch)
  if (code !== 0) throw new Error(`apply ended with ${code}: ${told}`)
  return { ms: performance.now() - startedMs, peak }
}
