import { setFlagsFromString } from 'node:v8'
import { isLocal, localProfile } from '../../config/profiles.ts'
import type { Command, Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { startText } from '../local-server/first-secrets.ts'
import { type RunningServer, runningServers } from '../local-server/running-servers.ts'
import { onePage } from '../output/one-page.ts'
import { databaseFault } from '../session/session.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'
import { lineWriter } from '../terminal/line-writer.ts'

const fields = ['url', 'pid', 'database', 'startedAt']
const shape = { table: fields, fields, paths: fields }

/** `learnctl server …` */
export const commands: readonly Command[] = [
  {
    name: 'start',
    summary: 'Serve an academy over HTTP, the local one unless --database names another',
    description:
      'It runs until SIGTERM or Ctrl-C, finishes the requests that are open, and logs one line of JSON for each on\nstandard error. A new database gets an admin, whose API key is printed once; so is a password\nfor the dashboard where the first admin has none, but not with --key-file.',
    flags: [
      { name: 'port', kind: 'number', summary: 'Port; 4700 unless given, 0 for any free one' },
      {
        name: 'host',
        kind: 'text',
        placeholder: 'address',
        summary: 'Address to listen on; 127.0.0.1 unless given',
      },
      {
        name: 'allow-host',
        kind: 'words',
        placeholder: 'name,…',
        summary: 'Host names that requests may carry, besides localhost',
      },
      {
        name: 'public-url',
        kind: 'text',
        placeholder: 'address',
        summary: 'The address by which others reach it',
      },
      {
        name: 'cors-origin',
        kind: 'words',
        placeholder: 'origin,…',
        summary: 'Origins whose pages may read answers',
      },
      {
        name: 'rate-limit',
        kind: 'number',
        summary: 'Requests a minute for each credential; 600 unless given, 0 for no limit',
      },
      {
        name: 'key-file',
        kind: 'text',
        placeholder: 'path',
        summary: 'Write the first key to this file (0600) instead of printing it',
      },
      { name: 'detach', kind: 'switch', summary: 'Leave it running in the background, once it answers' },
    ],
    examples: [
      'server start',
      'server start --database ./academy.db --port 0 -o json',
      'server start --detach',
    ],
    run: start,
  },
  {
    name: 'status',
    summary: 'List the servers that run on this machine',
    examples: ['server status -o json'],
    async run(context) {
      context.output.check(shape)
      const servers = await runningServers(context.directories.state).list()
      await context.output.list(onePage(servers), shape)
    },
  },
  {
    name: 'stop',
    summary: 'Stop the server of the local academy, or of --database',
    examples: ['server stop', 'server stop --database ./academy.db'],
    run: stop,
  },
  {
    name: 'openapi',
    summary: 'Print the OpenAPI document of the academy',
    examples: ['server openapi > openapi.json'],
    async run({ output, settings }) {
      const { openapiOf } = await import('../../contract/openapi.ts')
      if (settings.output.value === 'yaml') return output.document(openapiOf())
      await output.text(`${JSON.stringify(openapiOf(), null, 2)}\n`)
    },
  },
]

/** The database to serve or to stop serving: that of `--database` or `--profile`, else the one of quickstart. */
function databaseOf({ session, settings, directories, profiles }: Context): string {
  if (settings.database.value === null && settings.profile.value === null) {
    const known = profiles.read().profiles[localProfile]
    return known && isLocal(known) ? known.database : directories.database
  }
  const academy = session.target()
  if (academy.kind === 'local') return academy.database
  throw new UsageError(`${academy.url} runs elsewhere; only an academy of this machine can be served`)
}

async function start(context: Context, given: Given): Promise<void> {
  const { io, settings, directories, output } = context
  const options = serveOptions(context, given)
  const keyFileName = given.flags['key-file']
  const { openKeyFile } = await import('../local-server/key-file.ts')
  const keyFile = keyFileName === undefined ? null : await openKeyFile(io.cwd, String(keyFileName))
  if (given.flags['detach'] === true) {
    const { startDetached } = await import('../local-server/detached-server.ts')
    return startDetached(context, options.database)
  }
  const { serve } = await import('../../server/socket/serve.ts')
  // V8 lets the room for new objects grow with a burst and keeps it: each export would leave the server larger, for
  // nothing. Growth is all that this flag is read for, so setting it late is safe (Node, v8.setFlagsFromString).
  setFlagsFromString('--semi-space-growth-factor=1')
  const log = lineWriter(io.stderr)
  const server = await serve({
    ...options,
    path: options.database,
    // What is kept off the screen would be lost: a password can be set at any time, by `users set-password`.
    firstPassword: keyFile === null,
    writeLog: log.write,
  }).catch((error: unknown) => {
    throw listenFault(error, options)
  })
  const servers = runningServers(directories.state)
  try {
    await servers.add({
      pid: process.pid,
      url: server.url,
      address: server.address,
      database: options.database,
      startedAt: new Date(io.now()).toISOString(),
    })
    const { url, firstKey: key, firstPassword } = server
    if (key !== undefined) await keyFile?.keep(key)
    const shown = { ...(key !== undefined && !keyFile && { key }), ...firstPassword }
    const asJson = /^jsonl?$/.test(settings.output.value)
    await output.text(
      asJson ? `${JSON.stringify({ url, database: options.database, ...shown })}\n` : startText(url, shown),
    )
    await aborted(io.signal)
    throw io.signal.reason
  } finally {
    await server.stop()
    await log.flush()
    await servers.remove(process.pid)
  }
}

function serveOptions(context: Context, { flags }: Given) {
  const port = Number(flags['port'] ?? 4700)
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new UsageError(`--port must be a whole number from 0 to 65535, not ${port}`)
  }
  const perMinute = Number(flags['rate-limit'] ?? 600)
  if (!Number.isInteger(perMinute) || perMinute < 0) {
    throw new UsageError(`--rate-limit must be a whole number of requests, 0 or more, not ${perMinute}`)
  }
  const publicUrl = flags['public-url'] === undefined ? undefined : String(flags['public-url'])
  if (
    publicUrl !== undefined &&
    !/^https?:$/.test(URL.canParse(publicUrl) ? new URL(publicUrl).protocol : '')
  ) {
    throw new UsageError(`--public-url must be an http or https address, not ${JSON.stringify(publicUrl)}`)
  }
  const corsOrigins = words(flags['cors-origin'])
  const odd = corsOrigins.find((origin) => !URL.canParse(origin) || new URL(origin).origin !== origin)
  if (odd !== undefined) {
    throw new UsageError(
      `--cors-origin takes origins such as https://app.example.org, not ${JSON.stringify(odd)}`,
    )
  }
  return {
    database: databaseOf(context),
    host: String(flags['host'] ?? '127.0.0.1'),
    port,
    allowHosts: words(flags['allow-host']),
    publicUrl,
    corsOrigins,
    perMinute,
  }
}

function words(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : []
}

function listenFault(error: unknown, { host, port }: { host: string; port: number }): unknown {
  const { code, syscall } = error as { code?: string; syscall?: string }
  if (syscall !== 'listen' && syscall !== 'getaddrinfo') return databaseFault(error)
  if (code === 'EADDRINUSE') {
    return new CommandError('port_in_use', 'failure', `port ${port} of ${host} is in use`, {
      cause: error,
      hint: 'choose another with --port, or any free one with --port 0; see `learnctl server status`',
    })
  }
  return new CommandError('cannot_listen', 'failure', `cannot listen on ${host}, port ${port}: ${code}`, {
    cause: error,
  })
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}

async function stop(context: Context): Promise<void> {
  const { directories, output } = context
  const database = databaseOf(context)
  const servers = runningServers(directories.state)
  const found = (await servers.list()).filter((server) => server.database === database)
  const { isServing, stopServer } = await import('../local-server/stop-server.ts')
  const running: RunningServer[] = []
  for (const server of found) {
    if (await isServing(context, server)) running.push(server)
    else await servers.remove(server.pid)
  }
  if (running.length === 0) {
    throw new CommandError('not_running', 'notFound', `no server of ${database} runs`, {
      hint: 'see: learnctl server status',
    })
  }
  for (const server of running) {
    await stopServer(context, servers, server)
    await output.note(`stopped ${server.url}`)
  }
}
