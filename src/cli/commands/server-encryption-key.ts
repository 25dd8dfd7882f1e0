import { resolve } from 'node:path'
import { type Command, type Given, noColumns, notAList } from '../command/command.ts'
import { confirmAt } from '../command/confirm.ts'
import type { Context } from '../command/context.ts'
import { postgresFlags, readPostgresOptions } from '../local-server/serve-options.ts'
import { assertNoServer, databaseFile, servedDatabase } from '../local-server/served-database.ts'
import { databaseErrorOf } from '../session/database-error.ts'
import { upgradeNotes } from '../session/upgrade-notes.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'

const flags = postgresFlags.filter(({ name }) => ['database-url-file', 'encryption-key-file'].includes(name))

export const newEncryptionKeyCommand: Command = {
  name: 'new-encryption-key',
  summary: 'Replace the encryption key of a local academy after it was lost',
  writes: ['academy', 'machine'],
  prints: [],
  destructive: true,
  confirms: true,
  description: `Access tokens and webhook secrets are encrypted with a key in the file <database>.key. If the key is lost, they cannot
be read, and new ones cannot be stored. After this command, the next secret that is stored creates a new key; all other
secrets must be set again.

On PostgreSQL, --encryption-key-file names the file that the servers use. Stop all servers first, also on other machines.`,
  flags,
  refuses: {
    url: 'Only an academy on this machine has its key here',
    columns: noColumns.columns,
    limit: notAList.limit,
  },
  examples: ['server new-encryption-key --yes'],
  run: replaceKey,
}

async function replaceKey(context: Context, given: Given): Promise<void> {
  const { io, settings, output } = context
  const { name, url } = await servedDatabase(context, given)
  const postgres = readPostgresOptions(context, given, url)
  const file = given.flags['encryption-key-file']
  if (postgres && file === undefined) {
    throw new UsageError('--encryption-key-file is required for a PostgreSQL database')
  }
  const database = postgres ? name : await databaseFile(context, '')
  await assertNoServer(context, 'replace the encryption key', database)
  const { openEncryptionKey } = await import('../../server/academy/encryption-key.ts')
  const watch = upgradeNotes(io, database)
  const key = await openEncryptionKey({
    path: database,
    now: () => new Date(io.now()),
    ...(postgres ? { postgres } : { watch }),
    ...(file !== undefined && { encryptionKeyFile: resolve(io.cwd, String(file)) }),
  }).catch((error: unknown) => {
    throw databaseErrorOf(error)
  })
  try {
    const trouble = await key.trouble()
    if (trouble === undefined) {
      throw new CommandError('not_needed', 'conflict', 'The encryption key is not lost', {
        why: ['Everything that is encrypted can be read with it'],
      })
    }
    const consequence = `${trouble.replace(/:.*/s, '')}. Stored secrets have to be set again.`
    await confirmAt(context, 'replace the encryption key', `of ${database}`, consequence)
    if (settings.dryRun.value) return output.note(`Would replace the encryption key of ${database}`)
    await key.forget()
  } finally {
    await key.close()
  }
  await output.done(`The next secret makes a new encryption key for ${database}`)
  await output.note(
    'See what to set again with: learnctl integrations list, learnctl webhooks endpoints list',
  )
}
