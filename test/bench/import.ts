import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  atLeast,
  atMost,
  type BenchRow,
  comparePairs,
  perSecond,
  serveAcademy,
  watchLearnctl,
} from './measure.ts'
import { makeEmptyAcademy } from './seed.ts'

const rows = Number(process.env['LEARNCTL_IMPORT_ROWS'] ?? 50_000)
const rounds = 3
const connections = 8
const loadSeconds = 4
/** Number of bodies: more than the load sends in its time, because each user can be created once. */
const loadBodies = 30_000

/** Writes users, a course, and the progress and a grade of each user in it; returns the path of each table. */
function writeTables(directory: string): Record<'users' | 'courses' | 'progress' | 'grades', string> {
  const write = (name: string, header: string, lines: readonly string[]) => {
    const path = join(directory, `${name}.csv`)
    writeFileSync(path, `${header}\n${lines.join('\n')}\n`)
    return path
  }
  const each = (line: (row: number) => string) => Array.from({ length: rows }, (_, row) => line(row))
  return {
    users: write(
      'users',
      'externalId,email,firstName,lastName',
      each((row) => `S-${row},learner-${row}@example.org,First ${row},Last ${row}`),
    ),
    courses: write('courses', 'externalId,title,status', ['SEA,Marine Biology,published']),
    progress: write(
      'progress',
      'learnerId,courseId,completionPercentage,lastAccessed',
      each((row) => `ext:S-${row},ext:SEA,${row % 101},2026-01-01T00:00:00.000Z`),
    ),
    grades: write(
      'grades',
      'learnerId,courseId,itemId,scoreGiven',
      each((row) => `ext:S-${row},ext:SEA,exam,${row % 101}`),
    ),
  }
}

/**
 * Measures imports over HTTP into a server of this machine, with a request for each row and with many rows in each,
 * against a load that posts the same users to the same operation over as many connections. Only the import sends an
 * Idempotency-Key, for which a server stores each response.
 */
export async function benchImport(bin: string, directory: string): Promise<BenchRow[]> {
  const files = writeTables(directory)
  const peaks: number[] = []

  /** Gives work a new academy on a port, and a key. */
  async function served<Result>(work: (url: string, key: string) => Promise<Result>): Promise<Result> {
    const database = join(directory, 'import.db')
    for (const ending of ['', '-wal', '-shm']) rmSync(database + ending, { force: true })
    const key = await makeEmptyAcademy(database)
    const server = await serveAcademy(bin, database, directory, '0')
    const result = await work(server.url, key)
    await server.stop()
    return result
  }

  /** Imports a table in batches of this size; returns rows a second. */
  async function imported(noun: keyof typeof files, batchSize: number, url: string, key: string) {
    const words = [noun, 'import', files[noun], '--url', url, '--batch-size', String(batchSize)]
    const env = { LEARNCTL_API_KEY: key, XDG_STATE_HOME: directory }
    const { ms, peak } = await watchLearnctl(bin, words, { env })
    peaks.push(peak)
    return (rows / ms) * 1000
  }

  /** Returns rows a second: users, then their progress, which enrols them, then their grades. */
  const importedAll = () =>
    served(async (url, key) => {
      await imported('courses', 500, url, key)
      return {
        users: await imported('users', 500, url, key),
        progress: await imported('progress', 500, url, key),
        grades: await imported('grades', 500, url, key),
      }
    })

  const posted = () =>
    served((url, key) => {
      const requests = Array.from({ length: loadBodies }, (_, row) => {
        const profile = { firstName: `First ${row}`, lastName: `Last ${row}` }
        const user = { externalId: `S-${row}`, email: `learner-${row}@example.org`, profile }
        return { path: '/v1/users', body: JSON.stringify(user) }
      })
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
      return perSecond({ url, method: 'POST', headers, requests, connections, seconds: loadSeconds })
    })

  const single: [number, number][] = []
  const batch: [number, number][] = []
  const progress: [number, number][] = []
  const grades: [number, number][] = []
  for (let round = 0; round < rounds; round += 1) {
    const load = await posted()
    single.push([await served((url, key) => imported('users', 1, url, key)), load])
    const rates = await importedAll()
    batch.push([rates.users, load])
    progress.push([rates.progress, rates.users])
    grades.push([rates.grades, rates.users])
  }
  const row = (figure: string, goal: number, pairs: [number, number][], other: string): BenchRow => {
    const { mine, theirs, ratio } = comparePairs(pairs)
    const from = `${Math.round(mine)} rows/s over ${Math.round(theirs)}/s (${other}), ${rows} rows, ${rounds} rounds`
    return { figure: `import: ${figure}`, value: ratio, ...atLeast(goal), from }
  }
  return [
    row('a request for each user', 0.8, single, 'without Idempotency-Key'),
    row('users in batches', 2, batch, 'without Idempotency-Key'),
    row('progress in batches', 0.5, progress, 'users in batches'),
    row('grades in batches', 0.5, grades, 'users in batches'),
    {
      figure: 'import: peak memory',
      value: Math.max(...peaks),
      ...atMost(200, 'MiB'),
      from: `${rows} rows`,
    },
  ]
}

/** Measures time and memory of applying the shipped examples to an empty academy in process, and of applying them again. */
export async function benchApply(bin: string, directory: string): Promise<BenchRow[]> {
  const folder = join(directory, 'academy')
  mkdirSync(folder)
  const tables = ['users', 'enrollments', 'progress']
  const examples = join(import.meta.dirname, '../../src/examples')
  for (const name of tables) cpSync(join(examples, `${name}.csv`), join(folder, `${name}.csv`))
  const courses = ['2013J', '2014J'].map((title) => ({ externalId: `AAA-${title}`, title }))
  const named = Object.fromEntries(tables.map((name) => [name, { file: `${name}.csv` }]))
  writeFileSync(join(folder, 'academy.json'), JSON.stringify({ learnctl: 1, courses, ...named }))
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
  const from = `${(mine / 1000).toFixed(2)} s over ${(theirs / 1000).toFixed(2)} s, ${rounds} rounds`
  return [
    { figure: 'apply: again over the first time', value: ratio, ...atMost(0.5), from },
    { figure: 'apply: peak memory', value: Math.max(...peaks), ...atMost(200, 'MiB'), from: 'src/examples' },
  ]
}
