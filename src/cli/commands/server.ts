import { resolve } from 'node:path'
import {
  type Command,
  type Given,
  noColumns,
  noTarget,
  notAList,
  plainText,
  type RunLine,
} from '../command/command.ts'
import { confirmAt } from '../command/confirm.ts'
import type { Context } from '../command/context.ts'
import { findServers, stopServer } from '../local-server/running-servers.ts'
import { postgresFlags, readPostgresOptions } from '../local-server/serve-options.ts'
import { assertNoServer, databaseFile, servedDatabase } from '../local-server/served-database.ts'
import { databaseErrorOf, upgradeNotes } from '../session/academy-file.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'
import { backupCommand, resetCommand, restoreCommand } from './server-backup.ts'
import { copyCommand } from './server-copy.ts'
import { execCommand } from './server-exec.ts'
import { snapshotCommands } from './server-snapshot.ts'
import { startCommand } from './server-start.ts'

const flags = postgresFlags.filter(({ name }) => ['database-url-file', 'encryption-key-file'].includes(name))

const newEncryptionKeyCommand: Command = {
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

const fields = ['url', 'database', 'pid', 'startedAt']
const shape = { table: fields, paths: fields }

export const serverCommands = (runLine: RunLine): readonly Command[] => [
  startCommand,
  execCommand(runLine),
  {
    name: 'status',
    summary: 'List running servers',
    writes: [],
    prints: ['RunningServer[]'],
    refuses: { ...noTarget, limit: notAList.limit },
    examples: ['server status', 'server status -o json'],
    async run(context) {
      context.output.check(shape)
      const servers = await findServers(context, null)
      await context.output.list([servers], shape)
    },
  },
  {
    name: 'stop',
    summary: 'Stop a running server',
    writes: ['machine'],
    prints: [],
    description:
      'Stops the server of the quickstart academy unless --database or --profile selects another. --all stops every server that you started on this machine.',
    refuses: {
      url: 'Only a server on this machine can be stopped',
      columns: noColumns.columns,
      limit: notAList.limit,
    },
    examples: ['server stop', 'server stop --database ./academy.db', 'server stop --all'],
    run: stop,
  },
  backupCommand,
  restoreCommand,
  resetCommand,
  ...snapshotCommands,
  copyCommand,
  newEncryptionKeyCommand,
  {
    name: 'openapi',
    summary: 'Print the OpenAPI document of the API',
    writes: [],
    prints: ['OpenApiDocument'],
    refuses: { ...noTarget, ...plainText },
    examples: ['server openapi > openapi.json', 'server openapi -o yaml'],
    async run({ output, settings }) {
      const { openapiOf } = await import('../../contract/openapi/openapi.ts')
      if (settings.output.value === 'yaml') return output.document(openapiOf())
      await output.text(`${JSON.stringify(openapiOf(), null, 2)}\n`)
    },
  },
]

async function stop(context: Context): Promise<void> {
  const { output, settings } = context
  const { all } = settings
  const named = [settings.database, settings.profile].find(({ origin }) => origin.source === 'flag')
  if (all.value && named)
    throw new UsageError(`${all.origin.name} and ${named.origin.name} cannot be used together`)
  const database = all.value ? null : (await servedDatabase(context)).name
  const running = await findServers(context, database)
  if (running.length === 0) {
    throw new CommandError(
      'not_running',
      'notFound',
      database === null ? 'No server is running' : `No server is running for ${database}`,
      database === null ? {} : { hint: 'List running servers: learnctl server status' },
    )
  }
  for (const server of running) {
    if (settings.dryRun.value) {
      await output.note(`Would stop the server at ${server.url} (${server.database})`)
      continue
    }
    await stopServer(context, server)
    await output.done(`Stopped the server at ${server.url} (${server.database})`)
  }
}
