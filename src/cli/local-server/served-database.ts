import { isLocal, localProfile } from '../../config/profiles.ts'
import type { Context } from '../command/context.ts'
import { UsageError } from '../terminal/errors.ts'

/**
 * The path of the database to serve, or to stop serving: that of `--database` or `--profile`, else the one of
 * quickstart. Throws a UsageError for a platform at an address.
 */
export function servedDatabase({ session, settings, directories, profiles }: Context): string {
  if (settings.database.value === null && settings.profile.value === null) {
    const known = profiles.read().profiles[localProfile]
    return known && isLocal(known) ? known.database : directories.database
  }
  const target = session.target()
  if (target.kind === 'local') return target.database
  throw new UsageError(`Cannot serve ${target.url}: it is not an academy on this machine`)
}
