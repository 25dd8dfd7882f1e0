import { parseSetting } from '../../config/setting-value.ts'
import type { Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import type { Flag } from '../command/flag.ts'
import { UsageError } from '../terminal/errors.ts'
import type { Io } from '../terminal/io.ts'

/** Flags of `server start` for an academy on PostgreSQL. */
export const postgresFlags = [
  {
    name: 'database-url-file',
    kind: 'text',
    placeholder: 'path',
    summary: 'File with the URL of a PostgreSQL database, in place of --database',
  },
  {
    name: 'pool-size',
    kind: 'number',
    summary: 'Connections to PostgreSQL for requests; exports have up to five more (default 10)',
  },
  {
    name: 'statement-timeout',
    kind: 'text',
    placeholder: 'duration',
    summary: 'Time that PostgreSQL may take for a statement (default 30s)',
  },
  {
    name: 'lock-timeout',
    kind: 'text',
    placeholder: 'duration',
    summary: 'Time that a statement may wait in PostgreSQL for a lock (default 10s)',
  },
  {
    name: 'encryption-key-file',
    kind: 'text',
    placeholder: 'path',
    summary: 'Key that secrets are encrypted with, the same for all servers; created with the first secret',
  },
] as const satisfies readonly Flag[]

/** Larger than PostgreSQL allows. */
const maxConnections = 1000

/**
 * Returns the options to connect to the database at a URL; undefined for a file. Throws a UsageError on an
 * invalid value, and on any of the flags for a file; a SettingError on an invalid duration.
 */
export function postgresOptions({ io }: Pick<Context, 'io'>, { flags }: Given, url: string | undefined) {
  const given = postgresFlags.find(({ name }) => flags[name] !== undefined)
  if (url === undefined) {
    if (given) throw new UsageError(`--${given.name} requires a PostgreSQL database`)
    return undefined
  }
  const poolSize = flags['pool-size'] === undefined ? undefined : Number(flags['pool-size'])
  if (
    poolSize !== undefined &&
    !(Number.isInteger(poolSize) && poolSize >= 1 && poolSize <= maxConnections)
  ) {
    throw new UsageError(`--pool-size must be a whole number from 1 to ${maxConnections}, not ${poolSize}`)
  }
  const [statementMs, lockMs] = ['statement-timeout', 'lock-timeout'].map((name) =>
    durationOf(flags[name], name),
  )
  return {
    url,
    env: postgresEnv(io),
    home: io.home,
    ...(poolSize !== undefined && { poolSize }),
    ...(statementMs !== undefined && { statementMs }),
    ...(lockMs !== undefined && { lockMs }),
  }
}

/** Returns the variables of libpq, the only ones that opening a connection needs. */
export function postgresEnv({ env }: Pick<Io, 'env'>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => name.startsWith('PG')))
}

function durationOf(text: unknown, name: string): number | undefined {
  if (text === undefined) return undefined
  const setting = { kind: 'duration', flag: name, variable: '', summary: '', default: null } as const
  return Number(parseSetting(String(text), `--${name}`, setting))
}
