import { existsSync, rmSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { makeDatabaseDirectory, makeDirectory } from '../../config/files.ts'
import { type Command, type Given, notAList } from '../command/command.ts'
import { confirmAt } from '../command/confirm.ts'
import type { Context } from '../command/context.ts'
import {
  assertNoServer,
  databaseFile,
  defaultSnapshotName,
  encryptionKeyOf,
  inUseError,
  snapshotFolder,
  snapshotPath,
} from '../local-server/served-database.ts'
import { hasChosenForm } from '../output/output.ts'
import { databaseErrorOf, upgradeNotes } from '../session/academy-file.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'
import type { Io } from '../terminal/io.ts'
import { createProgressLine } from '../terminal/progress-line.ts'
import { partPath, placePart, removeDeadParts } from '../terminal/target-file.ts'

const fields = ['file', 'database', 'bytes']
const shape = { table: fields, paths: fields, identifier: 'file' }
const mebibyte = 1024 * 1024
const pgDump = 'Use pg_dump: pg_dump --format=custom --file=academy.dump <url>'
const pgRestore = 'Use pg_restore: pg_restore --clean --if-exists --dbname=<url> academy.dump'

export const backupCommand: Command = {
  name: 'backup',
  summary: 'Back up a local academy to a file',
  writes: ['files'],
  prints: ['Backup'],
  description: `Backs up the quickstart academy unless --database or --profile selects another, as it is at this moment, also while a
server is running. The backup is checked, and complete or not there at all. It contains all data of the academy,
password hashes among them: only you can read it. Access tokens and webhook secrets in it are encrypted, and their
key, <database>.key, is not part of it: keep a copy of that file elsewhere.

An academy in a PostgreSQL database is backed up with pg_dump.`,
  arguments: [{ name: 'file', summary: 'File to write', file: 'write' }],
  flags: [{ name: 'force', kind: 'switch', summary: 'Overwrite the file if it exists', destructive: true }],
  refuses: { ...notAList, url: 'Only an academy on this machine can be backed up' },
  examples: ['server backup academy-backup.db', 'server backup academy-backup.db --force'],
  run: runBackup,
}

export const restoreCommand: Command = {
  name: 'restore',
  summary: 'Restore a local academy from a backup',
  writes: ['academy'],
  prints: [],
  destructive: true,
  confirms: true,
  description: `Replaces the quickstart academy unless --database or --profile selects another. The backup is checked first. The
academy that was there is kept as a snapshot.`,
  arguments: [{ name: 'file', summary: 'Backup to restore', file: 'read' }],
  refuses: { ...notAList, url: 'Only an academy on this machine can be restored' },
  examples: ['server restore academy-backup.db --yes'],
  run: restore,
}

export const resetCommand: Command = {
  name: 'reset',
  summary: 'Delete all data of a local academy',
  writes: ['academy'],
  prints: [],
  destructive: true,
  confirms: true,
  description: `Replaces the quickstart academy by a new, empty one, unless --database or --profile selects another. The next
server start prints a new admin API key.`,
  refuses: { ...notAList, url: 'Only an academy on this machine can be reset' },
  examples: ['server reset --yes'],
  run: reset,
}

async function runBackup(context: Context, given: Given): Promise<void> {
  const { io, output, settings } = context
  output.check(shape)
  const database = await databaseFile(context, pgDump)
  const named = given.arguments['file'] ?? ''
  const file = resolve(io.cwd, named)
  const found = statSync(file, { throwIfNoEntry: false })
  if (found && !found.isFile()) throw new UsageError(`${named} is not a file`)
  if (found && given.flags['force'] !== true) {
    throw new UsageError(`${named} already exists`, { hint: 'Use --force to overwrite it' })
  }
  if (found && found.ino === statSync(database).ino) throw new UsageError(`${named} is the academy itself`)
  if (!existsSync(dirname(file))) throw new UsageError(`Directory ${dirname(named)} not found`)
  if (settings.dryRun.value) return output.note(`Would back up ${database} to ${named}`)
  await removeDeadParts(file)
  const part = await partPath(file)
  const bytes = await copyToFile(io, database, { path: part, shown: named })
  await placePart(part, file, named, given.flags['force'] === true)
  if (hasChosenForm(settings)) return output.one({ file, database, bytes }, shape)
  await output.done(`Backed up ${database} to ${named} (${sizeText(bytes)}, checked)`)
  const key = encryptionKeyOf(database)
  if (key !== null) {
    await output.note(
      `Its secrets are encrypted with ${key}, which is not in the backup; keep a copy of that elsewhere`,
    )
  }
}

async function restore(context: Context, given: Given): Promise<void> {
  const { io, output, settings } = context
  const database = await databaseFile(context, pgRestore, { mayMiss: true })
  const named = given.arguments['file'] ?? ''
  const file = resolve(io.cwd, named)
  if (!existsSync(file)) throw new CommandError('not_found', 'notFound', `Backup not found: ${named}`)
  const exists = existsSync(database)
  const former = `before-restore-${defaultSnapshotName(io.now())}`
  await assertNoServer(context, 'restore a backup', database)
  if (exists) {
    const kept = `The academy that is there is kept as snapshot ${former}.`
    await confirmAt(context, `restore backup ${named}`, `to ${database}`, kept)
  }
  if (settings.dryRun.value) return output.note(`Would restore ${database} from ${named}`)
  makeDatabaseDirectory(io, database)
  let trouble: string | undefined
  if (exists) makeDirectory(snapshotFolder(database), null)
  await replaceExclusively(
    context,
    'restore a backup',
    database,
    exists ? snapshotPath(database, former) : undefined,
    async (draft) => {
      await copyToFile(io, file, { path: draft, shown: database })
      const { openAcademyFile } = await import('../../server/academy/open-academy.ts')
      const options = { watch: upgradeNotes(io, draft) }
      const academy = await openAcademyFile(draft, () => new Date(io.now()), options).catch(
        (error: unknown) => {
          // The user's backup is damaged, so name it instead of the draft.
          if (error instanceof Error && 'path' in error) Object.assign(error, { path: named })
          throw error
        },
      )
      const { academySealing } = await import('../../server/access/sealing.ts')
      trouble = await academySealing({ path: database }).trouble(academy.database)
      await academy.database.close()
    },
  )
  await output.done(`Restored ${database} from ${named}`)
  if (trouble !== undefined) await output.note(trouble)
  if (exists)
    await output.note(`The academy that was there is kept: learnctl server snapshot restore ${former}`)
}

async function reset(context: Context): Promise<void> {
  const { io, output, settings } = context
  const database = await databaseFile(context, 'Drop the database and create it again: dropdb, createdb')
  await assertNoServer(context, 'reset the academy', database)
  await confirmAt(
    context,
    'reset the academy',
    `in ${database}`,
    'All its data is deleted; this cannot be undone.',
  )
  if (settings.dryRun.value) return output.note(`Would reset ${database}`)
  await replaceExclusively(context, 'reset the academy', database, undefined, async (draft) => {
    const [{ openAcademyFile }, { oweFirstKey }] = await Promise.all([
      import('../../server/academy/open-academy.ts'),
      import('../../server/credentials/first-secrets.ts'),
    ])
    const academy = await openAcademyFile(draft, () => new Date(io.now()))
    await oweFirstKey(academy.database).finally(() => academy.database.close())
  })
  await output.done(`Reset ${database}`)
}

/** Throws a CommandError if the database is in use. */
async function replaceExclusively(
  context: Context,
  action: string,
  database: string,
  former: string | undefined,
  make: (draft: string) => Promise<void>,
): Promise<void> {
  await removeDeadParts(database)
  const draft = await partPath(database)
  try {
    await make(draft)
    const { replaceDatabase } = await import('../../server/database/sqlite/backup.ts')
    context.io.signal.throwIfAborted()
    replaceDatabase(database, draft, former)
  } catch (error) {
    throw databaseErrorOf(await inUseError(context, action, database, error))
  } finally {
    for (const suffix of ['', '-wal', '-shm']) rmSync(draft + suffix, { force: true })
  }
}

/** The academy may be in use. Returns the size of the copy in bytes. */
async function copyToFile(
  io: Io,
  from: string,
  to: { readonly path: string; readonly shown: string },
): Promise<number> {
  const { backUp } = await import('../../server/database/sqlite/backup.ts')
  const line = await createProgressLine(io, 'MiB', Math.ceil(statSync(from).size / mebibyte))
  try {
    const { bytes } = await backUp(from, to.path, (done) => {
      io.signal.throwIfAborted()
      void line.update(Math.floor(done / mebibyte))
    })
    return bytes
  } catch (error) {
    if (error instanceof Error && 'path' in error && error.path === to.path)
      Object.assign(error, { path: to.shown })
    throw databaseErrorOf(error)
  } finally {
    line.stop()
  }
}

function sizeText(bytes: number): string {
  return bytes < mebibyte ? `${Math.ceil(bytes / 1024)} KiB` : `${(bytes / mebibyte).toFixed(1)} MiB`
}
