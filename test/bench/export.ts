import { closeSync, openSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import {
  atLeast,
  atMost,
  type BenchRow,
  compareInTurn,
  meanwhile,
  measureMs,
  peakMiB,
  serveAcademy,
  type Watched,
  watchLearnctl,
} from './measure.ts'
import { fillEnrollments, makeEmptyAcademy } from './seed.ts'

const rows = Number(process.env['LEARNCTL_EXPORT_ROWS'] ?? 1_000_000)
const rounds = 5
/** Time for which other requests are measured at rest. */
const restMs = 10_000

// The server's own statement (src/server/analytics/export.ts), so that both write the same rows.
const statement = `select u.id, u.email, u.profile ->> 'firstName', u.profile ->> 'lastName', u.external_id, c.id, c.title,
    c.difficulty, e.status, e.enrolled_at, coalesce(p.status, 'not_started'), coalesce(p.percentage, 0), p.started_at,
    p.last_accessed, p.completed_at, g.percent,
    case when g.percent is null then null
         when g.percent >= json_extract(c.attributes, '$.assessmentCriteria.passingScore') then 'true' else 'false' end,
    g.updated_at
  from users u cross join enrollments e on e.user_id = u.id and e.role = 'learner'
    join courses c on c.id = e.course_id
    left join progress p on p.user_id = u.id and p.course_id = c.id
    left join course_grades g on g.user_id = u.id and g.course_id = c.id
  where u.status <> 'deleted' order by u.email, c.title, u.id, c.id`

/**
 * Measures an export of a million rows, or LEARNCTL_EXPORT_ROWS, over HTTP to a CSV file against sqlite3 writing the
 * same rows; its memory; and other requests meanwhile against those at rest.
 */
export async function benchExport(bin: string, directory: string): Promise<BenchRow[]> {
  const database = join(directory, 'export.db')
  const key = await makeEmptyAcademy(database)
  fillEnrollments(database, rows)
  const server = await serveAcademy(bin, database, directory, '0')
  const own = () => exported(bin, server.url, key, join(directory, 'ours.csv'))
  const { mine, theirs, ratio } = await compareInTurn(
    rounds,
    async () => (await own()).ms,
    () => exportedBySqlite3(database, join(directory, 'theirs.csv')),
  )
  const first = peakMiB(server.pid)
  const client = await own()
  const [atRest] = await meanwhile(server.url, key, () => setTimeout(restMs))
  const [slow, asked] = await meanwhile(server.url, key, own)
  const again = peakMiB(server.pid)
  const megabytes = Math.round(statSync(join(directory, 'ours.csv')).size / 1e6)
  await server.stop()
  return [
    {
      figure: `export: ${rows.toLocaleString('en')} rows to CSV`,
      value: 1 / ratio,
      ...atLeast(0.9),
      from: `${(mine / 1000).toFixed(2)} s over ${(theirs / 1000).toFixed(2)} s (sqlite3), ${megabytes} MB, ${rounds} rounds`,
    },
    {
      figure: 'export: learners',
      value: rows / (mine / 1000),
      ...atLeast(60_000, 'rows/s'),
      from: `${rows.toLocaleString('en')} rows over HTTP to a file of CSV, the start of the command included`,
    },
    memory('server', first, `after ${rounds + 1} exports`),
    memory('client', client.peak, 'one export'),
    memory('server, later', again, `after ${rounds + 3} exports`),
    {
      figure: 'export: other requests meanwhile, p99',
      value: slow / atRest,
      ...atMost(2),
      from: `${slow.toFixed(1)} ms over ${atRest.toFixed(1)} ms at rest, ${asked} lists of 20 courses, one every 20 ms`,
    },
  ]
}

function memory(what: string, value: number | null, from: string): BenchRow {
  const figure = `export: peak memory, ${what}`
  return { figure, value: value ?? Number.NaN, ...atMost(150, 'MiB'), from }
}

/** Exports all learners of a server by the command line. */
export async function exported(bin: string, url: string, key: string, file: string): Promise<Watched> {
  rmSync(file, { force: true })
  const words = ['analytics', 'export', '--url', url, '--file', file]
  return watchLearnctl(bin, words, { env: { LEARNCTL_API_KEY: key } })
}

async function exportedBySqlite3(database: string, file: string): Promise<number> {
  const out = openSync(file, 'w')
  try {
    return await measureMs('sqlite3', ['-csv', '-header', database, statement], { stdout: out })
  } finally {
    closeSync(out)
  }
}
