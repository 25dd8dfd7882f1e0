import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { median, percentile, serveAcademy } from './measure.ts'
import { atMost, type BenchRow } from './row.ts'
import { fillEnrollments, makeEmptyAcademy } from './seed.ts'

const enrollments = 200_000
const stepsEach = 20
const gradesEach = 5
const rounds = 3
const sampleEveryMs = 20

/**
 * Measures the questions that read the most over HTTP: activity of three years by week, and the grades of all items, over
 * five million steps of progress and grades; and other requests meanwhile.
 */
export async function benchQuestions(bin: string, directory: string): Promise<BenchRow[]> {
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
    return [await rowOf('activity by week', readActivity, get), await rowOf('grades by item', readItems, get)]
  } finally {
    await server.stop()
  }
}

/** Measures a read, after one that warms up, and lists of courses meanwhile. */
async function rowOf(
  name: string,
  read: () => Promise<unknown>,
  get: (path: string) => Promise<unknown>,
): Promise<BenchRow> {
  await read()
  const others: number[] = []
  const timer = setInterval(async () => {
    const startedMs = performance.now()
    await get('/v1/courses')
    others.push(performance.now() - startedMs)
  }, sampleEveryMs)
  const seconds: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const startedMs = performance.now()
    await read()
    seconds.push((performance.now() - startedMs) / 1000)
  }
  clearInterval(timer)
  const [steps, grades] = [enrollments * stepsEach, enrollments * gradesEach]
  return {
    figure: `analytics: ${name}`,
    value: median(seconds),
    ...atMost(8, 's'),
    from: `${steps.toLocaleString('en')} steps and ${grades.toLocaleString('en')} grades, ${rounds} rounds; lists of courses meanwhile: p99 ${percentile(others, 0.99).toFixed(1)} ms`,
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
