import { execFile } from 'node:child_process'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { exported } from './export.ts'
import { makeAcademyOf } from './growth-seed.ts'
import {
  atLeast,
  atMost,
  type BenchRow,
  meanwhile,
  measureMs,
  median,
  medianMs,
  serveAcademy,
  type Watched,
} from './measure.ts'
import { fillEnrollments, makeEmptyAcademy } from './seed.ts'

const rounds = 3

/** Measures files of tables, and the questions and reports of analytics. */
export async function benchAnalytics(bin: string, directory: string): Promise<BenchRow[]> {
  return [
    ...(await benchTables(bin, directory)),
    ...(await benchQuestions(bin, directory)),
    ...(await benchReport(bin, directory)),
  ]
}

const atRiskSize = { users: 20_000, courses: 100, enrollments: 200_000 }

/** Measures `learnctl analytics at-risk --all` on a local academy, the start of the program included. */
export async function benchAtRisk(bin: string, directory: string): Promise<BenchRow[]> {
  const database = join(directory, 'at-risk.db')
  await makeAcademyOf(atRiskSize, database)
  const words = ['analytics', 'at-risk', '--all', '-o', 'csv', '--database', database]
  const ms = await medianMs(rounds, () => measureMs(process.execPath, [bin, ...words], { stdout: 'pipe' }))
  const from = `all of ${atRiskSize.enrollments.toLocaleString('en')} enrolments as CSV, ${rounds} rounds`
  return [{ figure: 'learners at risk', value: ms / 1000, ...atMost(2, 's'), from }]
}

/** Rounds of Parquet, and of XLSX: each is a process of its own, which needs no warming up. */
const tableRounds = 2
const parquetRows = 1_000_000
const xlsxRows = 50_000

/** Measures files of tables: Parquet against hyparquet-writer alone on the same columns, and XLSX, with their memory, and the memory of the command. */
async function benchTables(bin: string, directory: string): Promise<BenchRow[]> {
  const pairs: (readonly [ours: Written, bare: Written])[] = []
  for (let round = 0; round < tableRounds; round += 1) {
    pairs.push([
      await write('parquet', parquetRows, join(directory, 'ours.parquet')),
      await write('bare', parquetRows, join(directory, 'bare.parquet')),
    ])
  }
  const books: Written[] = []
  for (let round = 0; round < tableRounds; round += 1) {
    books.push(await write('xlsx', xlsxRows, join(directory, 'ours.xlsx')))
  }
  const oursMs = median(pairs.map(([ours]) => ours.ms))
  const bareMs = median(pairs.map(([, bare]) => bare.ms))
  const bookMs = median(books.map(({ ms }) => ms))
  const command = await exportParquet(bin, directory)
  return [
    {
      figure: `analytics: ${parquetRows} rows to Parquet`,
      value: median(pairs.map(([ours, bare]) => bare.ms / ours.ms)),
      ...atLeast(0.5),
      from: `${oursMs} ms, hyparquet-writer ${bareMs} ms`,
    },
    {
      figure: 'analytics: memory for Parquet',
      value: Math.max(...pairs.map(([ours]) => ours.peakMiB)),
      ...atMost(300, 'MiB'),
      from: `hyparquet-writer ${Math.max(...pairs.map(([, bare]) => bare.peakMiB))} MiB`,
    },
    {
      figure: 'analytics: memory of analytics export -o parquet',
      value: command.peak,
      ...atMost(300, 'MiB'),
      from: `${parquetRows} rows from a server in ${Math.round(command.ms)} ms`,
    },
    {
      figure: `analytics: ${xlsxRows} rows to XLSX`,
      value: xlsxRows / (bookMs / 1000),
      ...atLeast(5000, 'rows/s'),
      from: `${bookMs} ms, ${Math.max(...books.map(({ peakMiB }) => peakMiB))} MiB`,
    },
  ]
}

/** Exports the learners of a server to Parquet. */
async function exportParquet(bin: string, directory: string): Promise<Watched> {
  const database = join(directory, 'tables.db')
  const key = await makeEmptyAcademy(database)
  fillEnrollments(database, parquetRows)
  const server = await serveAcademy(bin, database, directory, '0')
  try {
    return await exported(bin, server.url, key, join(directory, 'learners.parquet'))
  } finally {
    await server.stop()
  }
}

/** A file that was written by a process of its own. */
interface Written {
  readonly ms: number
  readonly peakMiB: number
}

async function write(how: 'parquet' | 'bare' | 'xlsx', rows: number, path: string): Promise<Written> {
  const module = join(import.meta.dirname, 'bare-tables.ts')
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--expose-gc',
    module,
    how,
    String(rows),
    path,
  ])
  const [ms = Number.NaN, peakMiB = Number.NaN] = stdout.split(' ').map(Number)
  return { ms, peakMiB }
}

const enrollments = 200_000
const stepsEach = 20
const gradesEach = 5

/**
 * Measures the questions that read the most over HTTP: activity of three years by week, and the grades of all items, over
 * five million steps of progress and grades; and other requests meanwhile.
 */
async function benchQuestions(bin: string, directory: string): Promise<BenchRow[]> {
  const database = join(directory, 'questions.db')
  const key = await makeEmptyAcademy(database)
  fillEnrollments(database, enrollments)
  fillHistory(database)
  const server = await serveAcademy(bin, database, directory, '0')
  const get = async (path: string) => {
    const response = await fetch(`${server.url}${path}`, { headers: { authorization: `Bearer ${key}` } })
    if (!response.ok) throw new Error(`${path} returned ${response.status}: ${await response.text()}`)
    return (await response.json()) as { data: unknown[]; nextCursor?: string | null }
  }
  const readActivity = () =>
    get('/v1/analytics/activity?by=week&start_date=2023-01-02&end_date=2025-12-28&time_zone=Europe/Berlin')
  const readItems = async () => {
    for (let cursor = ''; ; ) {
      const { nextCursor } = await get(`/v1/analytics/grades?limit=100${cursor}`)
      if (!nextCursor) return
      cursor = `&cursor=${nextCursor}`
    }
  }
  try {
    return [
      await rowOf('activity by week', readActivity, server.url, key),
      await rowOf('grades by item', readItems, server.url, key),
    ]
  } finally {
    await server.stop()
  }
}

/** Measures a read, after one that warms up, and lists of courses meanwhile. */
async function rowOf(
  name: string,
  read: () => Promise<unknown>,
  url: string,
  key: string,
): Promise<BenchRow> {
  await read()
  let ms = Number.NaN
  const [slow] = await meanwhile(url, key, async () => {
    ms = await medianMs(rounds, read)
  })
  const [steps, grades] = [enrollments * stepsEach, enrollments * gradesEach]
  return {
    figure: `analytics: ${name}`,
    value: ms / 1000,
    ...atMost(8, 's'),
    from: `${steps.toLocaleString('en')} steps and ${grades.toLocaleString('en')} grades, ${rounds} rounds; lists of courses meanwhile: p99 ${slow.toFixed(1)} ms`,
  }
}

/** Adds steps to each progress, over three years, and grades with their histories to each enrolment. */
function fillHistory(path: string): void {
  const database = new DatabaseSync(path)
  const time = (seconds: string) => `strftime('%Y-%m-%dT%H:%M:%fZ', 1672531200 + ${seconds}, 'unixepoch')`
  database.exec(`
    pragma synchronous = off;
    begin;
    with recursive k(j) as (select 1 union all select j + 1 from k where j < ${stepsEach})
    insert into progress_steps (user_id, course_id, version, percentage, status, last_accessed, recorded_at)
    select p.user_id, p.course_id, j, j * 100.0 / ${stepsEach + 1}, 'in_progress',
      ${time(`j * ${Math.floor(94_000_000 / stepsEach)} - abs(random()) % 4000000`)}, '2026-01-01T00:00:00.000Z'
    from progress p, k;
    update progress set version = ${stepsEach};
    with recursive k(j) as (select 1 union all select j + 1 from k where j < ${gradesEach})
    insert into grades (id, user_id, course_id, source, item_id, label, score_given, score_maximum, graded_at, version,
      created_at, updated_at)
    select 'grd_' || e.rowid || '_' || j, e.user_id, e.course_id, 'manual', 'item-' || j, 'Item ' || j,
      abs(random()) % 1001 / 10.0, 100, ${time('abs(random()) % 94000000')}, 1, '2026-01-01T00:00:00.000Z',
      '2026-01-01T00:00:00.000Z'
    from enrollments e, k;
    insert into grade_steps (grade_id, version, score_given, score_maximum, graded_at, recorded_at, recorded_by)
    select id, 1, score_given, score_maximum, graded_at, created_at, 'bench' from grades;
    commit;
    analyze;
    pragma wal_checkpoint(truncate);`)
  database.close()
}

const reportSize = { users: 10_000, courses: 100, enrollments: 100_000 }

/** Measures `learnctl report` of 100 courses from a local academy, the start of the program included. */
async function benchReport(bin: string, directory: string): Promise<BenchRow[]> {
  const database = join(directory, 'report.db')
  await makeAcademyOf(reportSize, database)
  const file = join(directory, 'report.html')
  const words = ['report', '--last', '1y', '--file', file, '--force', '--database', database]
  const ms = await medianMs(rounds, () => measureMs(process.execPath, [bin, ...words]))
  const from = `${reportSize.courses} courses, ${reportSize.enrollments.toLocaleString('en')} enrolments, ${rounds} rounds`
  return [
    { figure: 'report of 100 courses', value: ms / 1000, ...atMost(3, 's'), from },
    {
      figure: 'report of 100 courses: size',
      value: statSync(file).size / 2 ** 20,
      ...atMost(1, 'MiB'),
      from,
    },
  ]
}
