import { type Command, noColumns, noTarget, notAList, plainText, type RunLine } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { runningServers } from '../local-server/running-servers.ts'
import { servedDatabase } from '../local-server/served-database.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'
import { backupCommand, resetCommand, restoreCommand } from './server-backup.ts'
import { copyCommand } from './server-copy.ts'
import { newEncryptionKeyCommand } from './server-encryption-key.ts'
import { execCommand } from './server-exec.ts'
import { snapshotCommands } from './server-snapshot.ts'
import { startCommand } from './server-start.ts'

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
      const { findServers } = await import('../local-server/running-servers.ts')
      const servers = await findServers(context, runningServers(context.directories.state), null)
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
  const { directories, output, settings } = context
  const { all } = settings
  const named = [settings.database, settings.profile].find(({ origin }) => origin.source === 'flag')
  if (all.value && named)
    throw new UsageError(`${all.origin.name} and ${named.origin.name} cannot be used together`)
  const database = all.value ? null : (await servedDatabase(context)).name
  const servers = runningServers(directories.state)
  const { findServers, stopServer } = await import('../local-server/running-servers.ts')
  const running = await findServers(context, servers, database)
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
    await stopServer(context, servers, server)
    await output.done(`Stopped the server at ${server.url} (${server.database})`)
  }
}
