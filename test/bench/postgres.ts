import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { makeDatabase, type OwnDatabase, postgresUrl } from '../helpers/postgres.ts'
import {
  atLeast,
  atMost,
  type BenchRow,
  measureMs,
  median,
  perSecond,
  type Served,
  startServer,
} from './measure.ts'
import { fillAcademy, loadOf, type Seed, type Trial, trials } from './server.ts'

const rounds = 5
const seconds = 2
const connections = 16
const goal = 0.7
/** Goal for two servers over one, if each has its own core. */
const goalOfTwo = 1.6
const maxRollbacks = 0.1
/** Number of learners whose progress is recorded. */
const learners = 100

/** Result of a load: requests a second, CPU milliseconds a request, and rollbacks a response. */
interface Cost {
  readonly rate: number
  readonly serverMs: number
  readonly databaseMs: number
  readonly rollbacks: number
}

/** An academy and the servers on it. */
interface Stand {
  readonly servers: readonly Served[]
  readonly database: OwnDatabase
}

type Meter = (stand: Stand, trial: Trial, connectionsEach: number) => Promise<Cost>

/**
 * Measures requests a second of our server on PostgreSQL against a bare one that runs the same SQL in the same
 * transactions, alternately; and those of two servers on one database. Where all of them share the cores, the second
 * figure is calculated from the CPU time of a request.
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
  const seed = await fillAcademy(file, learners)
  const databases = [await makeDatabase(), await makeDatabase()] as const
  const running: Served[] = []
  const start = async (args: readonly string[]) => {
    const server = await startServer(args, { XDG_STATE_HOME: directory })
    running.push(server)
    return server
  }
  const client = new pg.Client(postgresUrl)
  await client.connect()
  try {
    for (const { url } of databases) {
      await measureMs(process.execPath, [bin, 'server', 'copy', '--from', file, '--to', url])
    }
    // A limit that is never reached: counting requests is part of the work.
    const limit = ['--rate-limit', '600000000']
    const ours = [bin, 'server', 'start', '--database', databases[0].url, '--port', '0', ...limit]
    const [first, second] = [await start(ours), await start(ours)]
    const yardstick = await start([join(import.meta.dirname, 'bare-postgres.ts'), databases[1].url])
    const one = { servers: [first], database: databases[0] }
    const two = { servers: [first, second], database: databases[0] }
    const bare = { servers: [yardstick], database: databases[1] }
    const meter = meterOf(client, seed)
    const rows: BenchRow[] = []
    for (const trial of Object.values(trials)) {
      const [mine, theirs] = await inTurn(meter, trial, one, bare)
      rows.push(overBare(trial, mine, theirs))
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

/** Results of both in each round; the first round warms up. */
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

function meterOf(client: pg.Client, seed: Seed): Meter {
  return async ({ servers, database }, trial, connectionsEach) => {
    const spent = async () => ({
      serverMs: servers.reduce((sum, { pid }) => sum + cpuMs(pid), 0),
      ...(await databaseOf(client, database)),
    })
    const before = await spent()
    const rates = await Promise.all(
      servers.map(({ url }) =>
        perSecond({ ...loadOf(trial, url, seed), connections: connectionsEach, seconds }),
      ),
    )
    const after = await spent()
    const rate = rates.reduce((sum, each) => sum + each, 0)
    const each = (name: keyof typeof after) => (after[name] - before[name]) / (rate * seconds)
    return {
      rate,
      serverMs: each('serverMs'),
      databaseMs: each('databaseMs'),
      rollbacks: each('rollbacks'),
    }
  }
}

/** Returns the CPU time of the processes of a database, 0 on another machine, and its number of rollbacks. */
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

function overBare({ figure }: Trial, mine: Cost[], theirs: Cost[]): BenchRow {
  const [rate, bareRate] = [middle(mine, 'rate'), middle(theirs, 'rate')]
  const value = median(mine.map((one, round) => one.rate / (theirs[round]?.rate ?? Number.NaN)))
  const cpu = costText('server', mine, theirs, 'serverMs')
  const from = `${perSeconds(rate, bareRate)}, ${cpu}, ${costText('PostgreSQL', mine, theirs, 'databaseMs')}, ${connections} connections, ${rounds} × ${seconds} s`
  return { figure: `postgres: ${figure}`, value, ...atLeast(goal), from }
}

/** Reports rollbacks a response: transactions that were retried after a conflict. */
function rollbacksOf({ figure }: Trial, mine: Cost[]): BenchRow {
  const value = middle(mine, 'rollbacks')
  const from = `rollbacks an answer, ${connections} at a time`
  return { figure: `postgres: ${figure}, rollbacks`, value, ...atMost(maxRollbacks), from }
}

function overOne({ figure }: Trial, both: Cost[], alone: Cost[]): BenchRow {
  const value = 2 * (middle(alone, 'serverMs') / middle(both, 'serverMs'))
  const shared = perSeconds(middle(both, 'rate'), middle(alone, 'rate'))
  const cpu = costText('servers', both, alone, 'serverMs')
  const from = `${cpu}, ${costText('PostgreSQL', both, alone, 'databaseMs')}; ${shared} on the cores of this machine`
  return { figure: `postgres: two servers, ${figure}`, value, ...atLeast(goalOfTwo), from }
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

const ticksPerSecond = 100

/** Returns the CPU time of a process in milliseconds, to hundredths of a second; 0 if the system does not report it. */
function cpuMs(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name of the program comes first and may contain anything (proc(5)).
    const [user, system] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 13)
    return ((Number(user) + Number(system)) * 1000) / ticksPerSecond
  } catch {
    return 0
  }
}
