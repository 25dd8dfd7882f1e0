import { openAcademyFile, openAcademyOnPostgres } from '../academy/open-academy.ts'
import type { UpgradeWatch } from '../academy/upgrade-in-process.ts'
import type { Store } from '../database/database.ts'
import type { PostgresOptions } from '../database/postgres/reach-postgres.ts'
import type { CopyOptions } from './copy-academy.ts'
import { CopyError } from './copy-checks.ts'

export interface CopyPlace {
  /** Its path, or its URL without user and password. */
  readonly name: string
  readonly postgres?: Pick<PostgresOptions, 'url' | 'env' | 'home'> | undefined
  /** Observes the upgrade of an older file, which takes long. */
  readonly upgrade?: UpgradeWatch | undefined
}

interface CopyEnds extends Pick<CopyOptions, 'from' | 'to'> {
  readonly close: () => Promise<void>
}

/** For the copy's connections in PostgreSQL: servers have another one. */
const applicationName = 'learnctl copy'
/** Counting the rows of a large table takes some seconds. */
const statementMs = 600_000

/** Opens the source first: an error creates no target. Throws DatabaseError, and CopyError if a server is connected. */
export async function openCopyEnds(from: CopyPlace, to: CopyPlace, now: () => Date): Promise<CopyEnds> {
  const open: Store[] = []
  const close = async () => {
    for (const store of open) await store.close()
  }
  const keep = ({ database }: { database: Store }) => {
    open.push(database)
    return database
  }
  try {
    const source = keep(await openSource(from, now))
    const target = keep(await openTarget(to, now))
    await requireNoServer(source, from.name)
    await requireNoServer(target, to.name)
    for (const setting of target.dialect.copySettings) await target.run(setting)
    return {
      from: { database: source, shown: from.name },
      to: { database: target, shown: to.name },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

async function openSource({ name, postgres, upgrade }: CopyPlace, now: () => Date) {
  return postgres
    ? openAcademyOnPostgres({ ...optionsFor(postgres), mustExist: true }, now)
    : openAcademyFile(name, now, { watch: upgrade, mustExist: true })
}

function openTarget({ name, postgres }: CopyPlace, now: () => Date) {
  return postgres ? openAcademyOnPostgres(optionsFor(postgres), now) : openAcademyFile(name, now)
}

function optionsFor(postgres: NonNullable<CopyPlace['postgres']>): PostgresOptions {
  return { ...postgres, env: { ...postgres.env, PGAPPNAME: applicationName }, poolSize: 2, statementMs }
}

async function requireNoServer(database: Store, shown: string): Promise<void> {
  const { servers } = database.dialect
  if (!servers || Number((await database.one(servers))?.['servers']) === 0) return
  throw new CopyError(
    'in_use',
    `Cannot copy while a server is connected to ${shown}`,
    'Stop all servers of this academy first',
  )
}
