import { join } from 'node:path'
import pg from 'pg'
import { makeDatabase, type OwnDatabase, postgresUrl } from '../helpers/postgres.ts'
import { type LoadTool, loadTool } from './load.ts'
import { cpuMs, median, type Served, served, timed } from './measure.ts'
import type { BenchRow } from './row.ts'
import { fill, type Seed, type Trial, trials } from './trials.ts'

const rounds = 5
const seconds = 2
const connections = 16
const goal = 0.7
/** Of two servers over one, where each has a core of its own. */
const goalOfTwo = 1.6
const mostRollbacks = 0.1
/** As many learners record progress at the same time as requests come in. */
const learners = 100

/** What a load took: requests a second, milliseconds of CPU a request, and rollbacks an answer. */
interface Cost {
  readonly perSecond: number
  readonly serverMs: number
  readonly databaseMs: number
  readonly rollbacks: number
}

/** One academy, and who serves it. */
interface Stand {
  readonly servers: readonly Served[]
  readonly database: OwnDatabase
}

type Meter = (stand: Stand, trial: Trial, connectionsEach: number) => Promise<Cost>

/**
 * Requests a second of our server on PostgreSQL over a bare one that runs the same SQL in the same transactions, in turn;
 * and of two servers on one database. On a machine where all of them share the cores, the second is what the CPU time of
 * a request would allow.
 */
export async function benchPostgres(bin: string, directory: string): Promise<BenchRow[]> {
  if (postgresUrl === '') {
    process.stderr.write(
      'No PostgreSQL: run `.ci/postgres npm run bench postgres`, or set LEARNCTL_TEST_POSTGRES to the URL of a superuser\n',
    )
    process.exitCode = 1
    return []
  }
  const file = join(directory, 'postgres.db')
  const seed = await fill(file, learners)
  const databases = [await makeDatabase(), await makeDatabase()] as const
  const running: Served[] = []
  const start = async (args: readonly string[]) => {
    const server = await served(args, { XDG_STATE_HOME: directory })
    running.push(server)
    return server
  }
  const client = new pg.Client(postgresUrl)
  await client.connect()
  try {
    for (const { url } of databases) {
      await timed(process.execPath, [bin, 'server', 'copy', '--from', file, '--to', url])
    }
    // A limit that nobody reaches: the counting is what is measured.
    const limit = ['--rate-limit', '600000000']
    const ours = [bin, 'server', 'start', '--database', databases[0].url, '--port', '0', ...limit]
    const [first, second] = [await start(ours), await start(ours)]
    const yardstick = await start([join(import.meta.dirname, 'bare-postgres.ts'), databases[1].url])
    const one = { servers: [first], database: databases[0] }
    const two = { servers: [first, second], database: databases[0] }
    const bare = { servers: [yardstick], database: databases[1] }
    const tool = loadTool(directory)
    const meter = meterOf(tool, client, seed)
    const rows: BenchRow[] = []
    for (const trial of Object.values(trials)) {
      const [mine, theirs] = await inTurn(meter, trial, one, bare)
      rows.push(overBare(trial, mine, theirs, tool))
      if (trial.method !== 'GET') rows.push(rollbacksOf(trial, mine))
    }
    for (const trial of Object.values(trials)) {
      const [both, alone] = await inTurn(meter, trial, two, one)
      rows.push(overOne(trial, both, alone))
    }
    return rows
  } finally {
    for (const server of running) await server.stop()
    await client.end()
    for (const { remove } of databases) await remove()
  }
}

/** What both cost in each round; the first one warms up. */
async function inTurn(meter: Meter, trial: Trial, one: Stand, other: Stand): Promise<[Cost[], Cost[]]> {
  const costs: [Cost[], Cost[]] = [[], []]
  for (let round = 0; round <= rounds; round += 1) {
    const pair = [one, other].map((stand) => () => meter(stand, trial, connections / stand.servers.length))
    for (const [index, cost] of [await pair[0]?.(), await pair[1]?.()].entries()) {
      if (round > 0 && cost) costs[index]?.push(cost)
    }
  }
  return costs
}

function meterOf(tool: LoadTool, client: pg.Client, { key, ...seed }: Seed): Meter {
  return async ({ servers, database }, { method, requestsOf }, connectionsEach) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const requests = requestsOf({ key, ...seed })
    const spent = async () => ({
      serverMs: servers.reduce((sum, { pid }) => sum + cpuMs(pid), 0),
      ...(await databaseOf(client, database)),
    })
    const before = await spent()
    const rates = await Promise.all(
      servers.map(({ url }) =>
        tool.perSecond({ method, url, headers, requests, connections: connectionsEach, seconds }),
      ),
    )
    const after = await spent()
    const perSecond = rates.reduce((sum, rate) => sum + rate, 0)
    const each = (name: keyof typeof after) => (after[name] - before[name]) / (perSecond * seconds)
    return {
      perSecond,
      serverMs: each('serverMs'),
      databaseMs: each('databaseMs'),
      rollbacks: each('rollbacks'),
    }
  }
}

/** The CPU time that the processes of a database have taken, 0 on another machine, and how many transactions it undid. */
async function databaseOf(
  client: pg.Client,
  { name }: OwnDatabase,
): Promise<{ databaseMs: number; rollbacks: number }> {
  const { rows } = await client.query<{ pid: number; rollbacks: number }>(
    `select a.pid, s.xact_rollback::integer as rollbacks
     from pg_stat_database s left join pg_stat_activity a on a.datname = s.datname where s.datname = $1`,
    [name],
  )
  return {
    databaseMs: rows.reduce((sum, { pid }) => sum + cpuMs(pid), 0),
    rollbacks: rows[0]?.rollbacks ?? 0,
  }
}

function overBare({ figure }: Trial, mine: Cost[], theirs: Cost[], { name }: LoadTool): BenchRow {
  const [rate, bareRate] = [middle(mine, 'perSecond'), middle(theirs, 'perSecond')]
  const value = median(
    mine.map(({ perSecond }, round) => perSecond / (theirs[round]?.perSecond ?? Number.NaN)),
  )
  const cpu = costText('server', mine, theirs, 'serverMs')
  const from = `${perSeconds(rate, bareRate)}, ${cpu}, ${costText('PostgreSQL', mine, theirs, 'databaseMs')}, ${name}, ${connections} connections, ${rounds} × ${seconds} s`
  return { figure: `postgres: ${figure}`, value, unit: 'ratio', goal, better: 'more', from }
}

/** How often a transaction met another one and was begun anew. */
function rollbacksOf({ figure }: Trial, mine: Cost[]): BenchRow {
  const value = middle(mine, 'rollbacks')
  const from = `rollbacks an answer, ${connections} at a time`
  return {
    figure: `postgres: ${figure}, rollbacks`,
    value,
    unit: 'ratio',
    goal: mostRollbacks,
    better: 'less',
    from,
  }
}

function overOne({ figure }: Trial, both: Cost[], alone: Cost[]): BenchRow {
  const value = 2 * (middle(alone, 'serverMs') / middle(both, 'serverMs'))
  const shared = perSeconds(middle(both, 'perSecond'), middle(alone, 'perSecond'))
  const cpu = costText('servers', both, alone, 'serverMs')
  const from = `${cpu}, ${costText('PostgreSQL', both, alone, 'databaseMs')}; ${shared} on the cores of this machine`
  return {
    figure: `postgres: two servers, ${figure}`,
    value,
    unit: 'ratio',
    goal: goalOfTwo,
    better: 'more',
    from,
  }
}

function costText(of: string, mine: Cost[], theirs: Cost[], name: 'serverMs' | 'databaseMs'): string {
  return `CPU of ${of} ${middle(mine, name).toFixed(2)} over ${middle(theirs, name).toFixed(2)} ms`
}

function perSeconds(one: number, other: number): string {
  return `${one.toFixed(0)}/s over ${other.toFixed(0)}/s`
}

function middle(costs: readonly Cost[], name: keyof Cost): number {
  return median(costs.map((cost) => cost[name]))
}
