import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadTool } from './load.ts'
import { measureMs, median, serveAcademy, watchLearnctl } from './measure.ts'
import { atLeast, atMost, type BenchRow } from './row.ts'
import { makeEmptyAcademy } from './seed.ts'

const rows = Number(process.env['LEARNCTL_IMPORT_ROWS'] ?? 50_000)
const rounds = 3
const connections = 8
const loadSeconds = 4
/**
 * Number of bodies: more than a load tool sends in its time, because each user can be created once, and fewer than wrk
 * can hold.
 */
const loadBodies = 30_000
const curlRows = 400

interface User {
  readonly externalId: string
  readonly email: string
  readonly profile: { readonly firstName: string; readonly lastName: string }
}

function userOf(row: number): User {
  const profile = { firstName: `First ${row}`, lastName: `Last ${row}` }
  return { externalId: `S-${row}`, email: `learner-${row}@example.org`, profile }
}

/** Opens a new academy on a port, with a key. */
interface Place {
  readonly url: string
  readonly key: string
  stop(): Promise<void>
}

/** Writes a course, and the progress and a grade of each user in it. */
function writeRecords(directory: string): Record<'courses' | 'progress' | 'grades', string> {
  const write = (name: string, header: string, lines: readonly string[]) => {
    const path = join(directory, `${name}.csv`)
    writeFileSync(path, `${header}\n${lines.join('\n')}\n`)
    return path
  }
  const each = (line: (row: number) => string) => Array.from({ length: rows }, (_, row) => line(row))
  return {
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
 * against a load tool that posts the same bodies to the same operation over as many connections, and against curl under
 * xargs. Only the import sends an Idempotency-Key, for which a server stores each response: neither of the others could
 * be continued.
 */
export async function benchImport(bin: string, directory: string): Promise<BenchRow[]> {
  const file = join(directory, 'users.csv')
  const lines = Array.from({ length: rows }, (_, row) => {
    const { externalId, email, profile } = userOf(row)
    return `${externalId},${email},${profile.firstName},${profile.lastName}\n`
  })
  writeFileSync(file, `externalId,email,firstName,lastName\n${lines.join('')}`)
  const files = writeRecords(directory)
  const tool = loadTool(directory)
  const peaks: number[] = []

  async function open(): Promise<Place> {
    const database = join(directory, 'import.db')
    for (const ending of ['', '-wal', '-shm']) rmSync(database + ending, { force: true })
    const key = await makeEmptyAcademy(database)
    const server = await serveAcademy(bin, database, directory, '0')
    return { url: server.url, key, stop: () => server.stop() }
  }

  async function imported(batchSize: number): Promise<number> {
    const place = await open()
    const rate = await importInto(place, 'users', file, batchSize)
    await place.stop()
    return rate
  }

  /** Returns rows a second: users, then their progress, which enrols them, then their grades. */
  async function importedRecords(): Promise<Record<'users' | 'progress' | 'grades', number>> {
    const place = await open()
    await importInto(place, 'courses', files.courses, 500)
    const rates = {
      users: await importInto(place, 'users', file, 500),
      progress: await importInto(place, 'progress', files.progress, 500),
      grades: await importInto(place, 'grades', files.grades, 500),
    }
    await place.stop()
    return rates
  }

  async function importInto(
    { url, key }: Place,
    noun: string,
    path: string,
    batchSize: number,
  ): Promise<number> {
    const words = [noun, 'import', path, '--url', url]
    const { ms, peak } = await watchLearnctl(bin, [...words, '--batch-size', String(batchSize)], {
      env: { LEARNCTL_API_KEY: key, XDG_STATE_HOME: directory },
    })
    peaks.push(peak)
    return (rows / ms) * 1000
  }

  async function loaded(): Promise<number> {
    const { url, key, stop } = await open()
    const requests = Array.from({ length: loadBodies }, (_, row) => {
      return { path: '/v1/users', body: JSON.stringify(userOf(row)) }
    })
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const load = { url, method: 'POST', headers, requests, connections, seconds: loadSeconds } as const
    const rate = await tool.perSecond(load)
    await stop()
    return rate
  }

  async function curled(): Promise<number> {
    const { url, key, stop } = await open()
    const bodies = join(directory, 'bodies.txt')
    const words = Array.from({ length: curlRows }, (_, row) => `'${JSON.stringify(userOf(row))}'\n`)
    writeFileSync(bodies, words.join(''))
    const curl = `curl -sf -o /dev/null -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" ${url}/v1/users -d`
    const ms = await measureMs('sh', ['-c', `xargs -P8 -I{} sh -c '${curl} "$1"' curl {} < ${bodies}`], {
      env: { KEY: key },
    })
    await stop()
    return (curlRows / ms) * 1000
  }

  const measured: { single: number; batch: number; load: number }[] = []
  for (let round = 0; round < rounds; round += 1) {
    measured.push({ single: await imported(1), load: await loaded(), batch: await imported(500) })
  }
  const byCurl = await curled()
  const from = (value: number, other: number, name: string) =>
    `${Math.round(value)} rows/s over ${Math.round(other)}/s (${name})`
  const records: Awaited<ReturnType<typeof importedRecords>>[] = []
  for (let round = 0; round < rounds; round += 1) records.push(await importedRecords())
  const besideUsers = (noun: 'progress' | 'grades'): BenchRow => ({
    figure: `import: ${noun} in batches`,
    value: median(records.map((each) => each[noun] / each.users)),
    ...atLeast(0.5),
    from: `${from(median(records.map((each) => each[noun])), median(records.map(({ users }) => users)), 'users in batches')}, ${rows} rows of one course, ${rounds} rounds`,
  })
  const middle = (one: 'single' | 'batch' | 'load') => median(measured.map((each) => each[one]))
  const ratio = (one: 'single' | 'batch'): Pick<BenchRow, 'value' | 'from'> => ({
    value: median(measured.map((each) => each[one] / each.load)),
    from: `${from(middle(one), middle('load'), `${tool.name}, without Idempotency-Key`)}, ${rows} rows, ${rounds} rounds`,
  })
  return [
    { figure: 'import: a request for each user', ...atLeast(0.8), ...ratio('single') },
    { figure: 'import: users in batches', ...atLeast(2), ...ratio('batch') },
    besideUsers('progress'),
    besideUsers('grades'),
    {
      figure: 'import: a request for each user',
      value: middle('single') / byCurl,
      ...atLeast(1),
      from: from(middle('single'), byCurl, `curl under xargs -P8, ${curlRows} rows`),
    },
    {
      figure: 'import: peak memory',
      value: Math.max(...peaks),
      ...atMost(200, 'MiB'),
      from: `${rows} rows`,
    },
  ]
}
