import { chmodSync, existsSync, renameSync, rmSync, utimesSync } from 'node:fs'
import { makeDirectory } from '../../config/files.ts'
import { type Command, type Given, notAList } from '../command/command.ts'
import { confirmAt } from '../command/confirm.ts'
import type { Context } from '../command/context.ts'
import {
  assertNoServer,
  databaseFile,
  defaultSnapshotName,
  findSnapshot,
  inUseError,
  snapshotFolder,
  snapshotPath,
  snapshotsOf,
} from '../local-server/served-database.ts'
import { hasChosenForm } from '../output/output.ts'
import { CommandError } from '../terminal/errors.ts'
import { partPath, removeDeadParts } from '../terminal/target-file.ts'

const fields = ['name', 'createdAt', 'bytes', 'path']
const shape = { table: ['name', 'createdAt', 'bytes'], paths: fields, identifier: 'name' }
const instead = 'Use the tools of PostgreSQL: createdb --template, or pg_dump and pg_restore'
const url = 'Only an academy on this machine has snapshots'
const refuses = { ...notAList, url }

export const snapshotCommands: readonly Command[] = [
  {
    name: 'snapshot save',
    summary: 'Save a snapshot of a local academy',
    writes: ['machine'],
    prints: ['Snapshot'],
    description: `Saves the quickstart academy unless --database or --profile selects another. Takes milliseconds where the file system
shares blocks between copies. Snapshots are kept in a folder beside the database. Use server backup while a server
is running.`,
    arguments: [{ name: 'name', summary: 'Name of the snapshot (default the time)', optional: true }],
    flags: [
      { name: 'force', kind: 'switch', summary: 'Replace the snapshot of this name', destructive: true },
    ],
    refuses,
    examples: ['server snapshot save', 'server snapshot save seeded --force'],
    run: save,
  },
  {
    name: 'snapshot list',
    summary: 'List the snapshots of a local academy, newest first',
    writes: [],
    prints: ['Snapshot[]'],
    refuses: { url, limit: notAList.limit },
    examples: ['server snapshot list', 'server snapshot list --database academy.db -o json'],
    async run(context) {
      context.output.check(shape)
      await context.output.list([snapshotsOf(await databaseFile(context, instead))], shape)
    },
  },
  {
    name: 'snapshot restore',
    summary: 'Restore a local academy to a snapshot',
    writes: ['academy'],
    prints: [],
    destructive: true,
    confirms: true,
    arguments: [{ name: 'name', summary: 'Name of the snapshot (default the newest)', optional: true }],
    refuses,
    examples: ['server snapshot restore seeded --yes'],
    run: restore,
  },
  {
    name: 'snapshot delete',
    summary: 'Delete a snapshot',
    writes: ['machine'],
    prints: [],
    destructive: true,
    confirms: true,
    arguments: [{ name: 'name', summary: 'Name of the snapshot' }],
    refuses,
    examples: ['server snapshot delete seeded --yes'],
    run: remove,
  },
]

async function save(context: Context, given: Given): Promise<void> {
  const { io, output, settings } = context
  output.check(shape)
  const database = await databaseFile(context, instead)
  const name = given.arguments['name'] ?? defaultSnapshotName(io.now())
  const path = snapshotPath(database, name)
  if (existsSync(path) && given.flags['force'] !== true) {
    throw new CommandError('already_exists', 'conflict', `Snapshot ${name} already exists`, {
      hint: 'Use --force to replace it',
    })
  }
  await assertNoServer(context, 'save a snapshot', database)
  if (settings.dryRun.value) return output.note(`Would save ${database} as snapshot ${name}`)
  makeDirectory(snapshotFolder(database), null)
  await removeDeadParts(path)
  const part = await partPath(path)
  await withExclusiveUse(context, 'save a snapshot', database, ({ withSoleUse, cloneFile }) => {
    withSoleUse(database, () => cloneFile(database, part))
    chmodSync(part, 0o600)
    utimesSync(part, io.now() / 1000, io.now() / 1000)
    renameSync(part, path)
  }).finally(() => rmSync(part, { force: true }))
  if (hasChosenForm(settings)) return output.one(findSnapshot(database, name), shape)
  await output.done(`Saved snapshot ${name} of ${database}`)
}

async function restore(context: Context, given: Given): Promise<void> {
  const { output, settings } = context
  const database = await databaseFile(context, instead, { mayMiss: true })
  const { name, path } = findSnapshot(database, given.arguments['name'])
  await assertNoServer(context, 'restore a snapshot', database)
  await confirmAt(context, `restore snapshot ${name}`, `to ${database}`, 'Changes made since then are lost.')
  if (settings.dryRun.value) return output.note(`Would restore ${database} to snapshot ${name}`)
  const draft = await partPath(database)
  await withExclusiveUse(context, 'restore a snapshot', database, ({ cloneFile, replaceDatabase }) => {
    cloneFile(path, draft)
    replaceDatabase(database, draft)
  }).finally(() => rmSync(draft, { force: true }))
  await output.done(`Restored ${database} to snapshot ${name}`)
}

async function remove(context: Context, given: Given): Promise<void> {
  const { output, settings } = context
  const database = await databaseFile(context, instead, { mayMiss: true })
  const { name, path } = findSnapshot(database, given.arguments['name'])
  await confirmAt(context, `delete snapshot ${name}`, `of ${database}`, 'This cannot be undone.')
  if (settings.dryRun.value) return output.note(`Would delete snapshot ${name} of ${database}`)
  rmSync(path)
  await output.done(`Deleted snapshot ${name} of ${database}`)
}

type SoleUse = typeof import('../../server/database/sqlite/backup.ts')

/** Throws a CommandError if the database is in use. */
async function withExclusiveUse(
  context: Context,
  action: string,
  database: string,
  work: (means: SoleUse) => void,
): Promise<void> {
  try {
    work(await import('../../server/database/sqlite/backup.ts'))
  } catch (error) {
    const { databaseErrorOf } = await import('../session/academy-file.ts')
    throw databaseErrorOf(await inUseError(context, action, database, error))
  }
}
