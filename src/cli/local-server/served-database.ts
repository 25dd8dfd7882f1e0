import { resolve } from 'node:path'
import { isDatabaseUrl } from '../../codec/database-url.ts'
import { isLocal, localProfile } from '../../config/profiles.ts'
import { readRegularFile, UnreadableFileError } from '../../config/read-file.ts'
import { chosenDatabaseUrl } from '../../config/target.ts'
import type { Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { UsageError } from '../terminal/errors.ts'

/** The database that a server uses. */
export interface ServedDatabase {
  /** Name in messages and in the list of servers: its path, or its URL without user and password. */
  readonly name: string
  /** Complete URL of a PostgreSQL database; undefined for a file. */
  readonly url?: string | undefined
}

const maxUrlBytes = 16 * 1024

/**
 * Returns the database to serve, or to stop serving: that of `--database-url-file`, `--database` or
 * `--profile`, else the one of quickstart. Throws a UsageError for a platform at a URL, and for an invalid
 * database URL.
 */
export async function servedDatabase(context: Context, given?: Given): Promise<ServedDatabase> {
  const { io, session, settings, directories, profiles } = context
  const file = given?.flags['database-url-file']
  if (file !== undefined) {
    if (settings.database.origin.source === 'flag') {
      throw new UsageError('--database and --database-url-file cannot be used together')
    }
    return servedUrl(context, urlIn(resolve(io.cwd, String(file)), String(file)), '--database-url-file')
  }
  if (settings.database.value === null && settings.profile.value === null) {
    const known = profiles.read().profiles[localProfile]
    return { name: known && isLocal(known) ? known.database : directories.database }
  }
  const chosen = chosenDatabaseUrl({ settings, env: io.env, profiles: profiles.read(), cwd: io.cwd })
  if (chosen) return servedUrl(context, chosen.url, chosen.origin.name)
  const target = session.target()
  if (target.kind === 'local') return { name: target.database }
  throw new UsageError(`Cannot serve ${target.url}: it is not an academy on this machine`)
}

/** Returns a PostgreSQL database by its URL. Throws a UsageError for an invalid one that names `place`. */
export async function servedUrl(
  { io }: Pick<Context, 'io'>,
  url: string,
  place: string,
): Promise<ServedDatabase> {
  const { PostgresUrlError, readPostgresUrl } = await import('../../codec/postgres-url.ts')
  try {
    return { name: readPostgresUrl(url, io.env).shown, url }
  } catch (error) {
    if (!(error instanceof PostgresUrlError)) throw error
    throw new UsageError(`${place} ${error.message}`, error.hint === undefined ? {} : { hint: error.hint })
  }
}

/** Reads the first line of a file that only its owner can read. */
function urlIn(path: string, shown: string): string {
  try {
    const [line = ''] = readRegularFile(path, maxUrlBytes).trimStart().split(/\r?\n/)
    if (isDatabaseUrl(line)) return line
  } catch (cause) {
    if (!(cause instanceof UnreadableFileError)) throw cause
    const reason = cause.code === 'ENOENT' ? 'not found' : cause.message
    throw new UsageError(`Cannot read --database-url-file ${shown}: ${reason}`, { cause })
  }
  throw new UsageError(
    `--database-url-file ${shown} must contain a URL such as postgres://user@db.example.org/academy`,
  )
}
