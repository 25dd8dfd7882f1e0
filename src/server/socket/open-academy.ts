import type { Server } from 'node:http'
import { type AcademyFile, openAcademyFile, openAcademyOnPostgres } from '../academy.ts'
import type { Store } from '../database/database.ts'
import { deferredStore } from '../database/deferred-store.ts'
import type { IdMaker } from '../database/id.ts'
import type { PostgresOptions } from '../database/postgres/reach-postgres.ts'
import { sqliteDialect } from '../database/sqlite-dialect.ts'
import { unavailable } from '../problem/problem-error.ts'
import type { UpgradeWatch } from '../upgrade/upgrade-watch.ts'

/** A file, or a PostgreSQL database instead. */
interface ServedDatabase {
  readonly path: string
  readonly postgres?: PostgresOptions | undefined
  readonly upgrade?: UpgradeWatch
  readonly ids?: IdMaker | undefined
  readonly temporary?: boolean
}

const tryAgainSeconds = 10

/** Opens the academy of a listening server; closes the port if that fails. */
export async function openOrClose(
  server: Server,
  { path, postgres, upgrade, ids, temporary }: ServedDatabase,
  now: () => Date,
  onUpgrade: () => void,
): Promise<AcademyFile> {
  try {
    return await (postgres
      ? openAcademyOnPostgres(postgres, now)
      : openAcademyFile(path, now, { watch: upgrade && telling(upgrade, onUpgrade), ids, temporary }))
  } catch (error) {
    server.close()
    server.closeAllConnections()
    throw error
  }
}

/** Returns a store for an academy that is being upgraded: each use throws 503. */
export function upgradingStore(): Store {
  return deferredStore(sqliteDialect, async () => {
    throw unavailable('The academy is being upgraded for this version of the server.', tryAgainSeconds)
  })
}

function telling(watch: UpgradeWatch, onUpgrade: () => void): UpgradeWatch {
  return {
    ...watch,
    onProgress: (progress) => {
      onUpgrade()
      return watch.onProgress(progress)
    },
  }
}
