import { newHmacKey } from './access/secret.ts'
import type { Database } from './database/database.ts'
import { type IdPrefix, idMaker } from './database/id.ts'
import { migrate } from './database/migrations.ts'
import { databaseErrorOf, openSqlite } from './database/sqlite.ts'

/** An open academy: its database, and whether it was made just now. */
export interface AcademyFile {
  readonly database: Database
  readonly created: boolean
  readonly newId: (prefix: IdPrefix) => string
}

/** Opens the academy in a file and brings it up to date; makes it where there is none. Throws DatabaseError. */
export function openAcademyFile(path: string, now: () => Date): AcademyFile {
  const database = openSqlite(path)
  const newId = idMaker(now)
  try {
    const created = migrate(database, path, { now: now().toISOString(), newId, newSecret: newHmacKey })
    return { database, created, newId }
  } catch (error) {
    database.close()
    throw databaseErrorOf(path, error)
  }
}
