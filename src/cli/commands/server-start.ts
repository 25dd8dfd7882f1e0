import { resolve } from 'node:path'
import { makeDatabaseDirectory } from '../../config/files.ts'
import { type Command, type Given, plainText } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { withTimeZone } from '../command/flag.ts'
import { addServer, findServers, removeServer } from '../local-server/running-servers.ts'
import {
  assertNewAcademy,
  type FixedOptions,
  listenError,
  readFixedFlags,
  readPostgresOptions,
  readServeOptions,
  serveFlags,
} from '../local-server/serve-options.ts'
import { servedDatabase } from '../local-server/served-database.ts'
import {
  clockText,
  createLineWriter,
  dashboardOf,
  encryptionText,
  type FirstSecrets,
  type KeyFile,
  startText,
} from '../local-server/start-report.ts'
import { databaseErrorOf, upgradeNotes } from '../session/academy-file.ts'
import { type Io, streamOf } from '../terminal/io.ts'
import { removeDeadParts } from '../terminal/target-file.ts'

export const startCommand: Command = {
  name: 'start',
  interruption: 'ends',
  summary: 'Serve a local academy over HTTP',
  writes: ['academy', 'machine'],
  prints: ['StartedServer'],
  description: `Serves the quickstart academy unless --database or --profile selects another. Runs until Ctrl-C or SIGTERM, then
finishes open requests. Logs each request to standard error.

--database takes the URL of a PostgreSQL database, too: several servers may serve the same. Keep the password out of
it, in PGPASSWORD or ~/.pgpass, or the whole URL in a file (--database-url-file).

The admin API key of a new academy and the first password for the dashboard are printed once. With --key-file
no password is set and the key goes to that file; if the file is missing, an existing academy gets another key.

--clock and --seed-id make two runs on new academies give the same times and ids. Keys, tokens, codes and passwords
are random nevertheless; while the clock stands still, none of them expires, and requests are not limited.

On a --host other than the loopback the server requires --tls-cert, an https --public-url or --insecure-http.`,
  flags: withTimeZone(serveFlags),
  refuses: { ...plainText, url: 'Only an academy on this machine can be served' },
  examples: [
    'server start',
    'server start --database ./academy.db --port 0 -o json',
    'server start --detach',
    'server start --database postgres://learn@db.example.org/academy --dry-run',
  ],
  run: start,
}

type Options = ReturnType<typeof readServeOptions>

interface Start {
  readonly database: string
  /** Null for an academy in a file. */
  readonly postgres: ReturnType<typeof readPostgresOptions>
  readonly options: Options
  readonly fixed: FixedOptions
  readonly tls: { readonly cert: string; readonly key: string } | undefined
  /** Null to print the key. */
  readonly keyFile: KeyFile | null
}

async function start(context: Context, given: Given): Promise<void> {
  const { io, settings, output } = context
  const served = await servedDatabase(context, given)
  const { name: database } = served
  const postgres = readPostgresOptions(context, given, served.url)
  const options: Options = readServeOptions(given, settings)
  const fixed = readFixedFlags(given)
  const { tlsFiles } = await import('../local-server/tls-files.ts')
  const tls = tlsFiles(context, given)
  const isDetached = given.flags['detach'] === true
  if (isDetached && (await reportRunning(context, database))) return
  assertNewAcademy(fixed, database, !postgres)
  if (settings.dryRun.value) {
    return output.note(`Would serve ${database} on ${options.host}, port ${options.port}`)
  }
  const { openKeyFile } = await import('../local-server/start-report.ts')
  const keyFileName = given.flags['key-file']
  const keyFile = keyFileName === undefined ? null : await openKeyFile(io.cwd, String(keyFileName))
  if (isDetached) {
    if (!postgres) await upgradeBefore(io, database)
    const { startDetached } = await import('../local-server/detached-server.ts')
    return startDetached(context, served)
  }
  if (!postgres) {
    makeDatabaseDirectory(io, database)
    await removeDeadParts(database)
  }
  await serveUntilInterrupted(context, given, { database, postgres, options, fixed, tls, keyFile })
}

async function serveUntilInterrupted(
  context: Context,
  given: Given,
  { database, postgres, options, fixed, tls, keyFile }: Start,
): Promise<void> {
  const { io, directories, output } = context
  const { 'encryption-key-file': encryptionKeyFile } = given.flags
  const formatLog = await logFormat(context, given)
  const log = createLineWriter(streamOf(io.stderr))
  const server = await context
    .serve({
      ...options,
      path: database,
      postgres,
      ...(encryptionKeyFile !== undefined && {
        encryptionKeyFile: resolve(io.cwd, String(encryptionKeyFile)),
      }),
      tls,
      env: io.env,
      ...(await fixedServing(fixed)),
      // With a key file no secret is printed, so the password would be lost: `users set-password` can set one.
      firstPassword: keyFile === null,
      adminKey: keyFile?.isMissing === true,
      writeLog: log.write,
      ...(postgres ? {} : { upgrade: upgradeNotes(io, database) }),
      ...(formatLog && { formatLog }),
    })
    .catch((error: unknown) => {
      throw listenError(error, options)
    })
  try {
    const { url, address, firstKey: key, firstPassword } = server
    const startedAt = new Date(io.now()).toISOString()
    await addServer(directories.state, { pid: process.pid, url, address, database, startedAt })
    if (key !== undefined) await keyFile?.write(key)
    const secrets = { ...(key !== undefined && !keyFile && { key }), ...firstPassword }
    await reportStarted(context, database, url, secrets)
    if (fixed.fixedTime === undefined) log.write(clockText(server.clockAheadMs, formatLog !== undefined))
    log.write(encryptionText(server.encryptionTrouble, formatLog !== undefined))
    if (io.stderr.isTTY) await output.note(`Dashboard: ${dashboardOf(url)} · Press Ctrl-C to stop`)
    await waitForAbort(io)
    throw io.signal.reason
  } finally {
    await server.stop()
    log.close()
    await removeServer(directories.state, process.pid)
  }
}

async function fixedServing({ fixedTime, seedId }: FixedOptions) {
  if (seedId === undefined) return { fixedTime }
  const { seededIdMaker } = await import('../../server/database/id.ts')
  return {
    fixedTime,
    ids: seededIdMaker(seedId, () => (fixedTime === undefined ? new Date() : new Date(fixedTime))),
  }
}

/** Upgrades a large academy in the foreground: a background server would report its progress only to the log. */
async function upgradeBefore(io: Io, database: string): Promise<void> {
  const { upgradeLarge } = await import('../../server/academy/open-academy.ts')
  await upgradeLarge(database, upgradeNotes(io, database)).catch((error: unknown) => {
    throw databaseErrorOf(error)
  })
}

/** False if no server serves the academy. */
async function reportRunning(context: Context, database: string): Promise<boolean> {
  const { output } = context
  const [running] = await findServers(context, database)
  if (!running) return false
  await reportStarted(context, database, running.url, {})
  await output.note(`Already running at ${running.url}`)
  return true
}

async function reportStarted(
  { settings, output }: Context,
  database: string,
  url: string,
  secrets: FirstSecrets,
): Promise<void> {
  const asJson = /^jsonl?$/.test(settings.output.value)
  await output.text(asJson ? `${JSON.stringify({ url, database, ...secrets })}\n` : startText(url, secrets))
}

/** Undefined for JSON lines. */
async function logFormat({ io, settings }: Context, { flags }: Given) {
  const format = flags['log'] ?? (io.stderr.isTTY ? 'text' : 'json')
  if (format !== 'text') return undefined
  const [{ logText }, { createPainterFor }] = await Promise.all([
    import('../local-server/start-report.ts'),
    import('../terminal/format-text.ts'),
  ])
  return logText(await createPainterFor(io.stderr, io, settings))
}

function waitForAbort({ signal }: Io): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
