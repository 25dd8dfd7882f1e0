import { statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Writable } from 'node:stream'
import { createProfileStore } from '../../config/profiles.ts'
import { type Command, type Given, noTarget, plainText, type RunLine } from '../command/command.ts'
import { type Context, createContext } from '../command/context.ts'
import { textsIn, withTimeZone } from '../command/flag.ts'
import type { EnvFile, Seed, WebhookFile } from '../local-server/exec-run.ts'
import { fixedFlags, listenError, readFixedFlags, readPort } from '../local-server/serve-options.ts'
import { databaseFile, findSnapshot } from '../local-server/served-database.ts'
import { databaseErrorOf, upgradeNotes } from '../session/academy-file.ts'
import { transports } from '../session/session.ts'
import { ChildEnded, CommandError, ExitWith, UsageError } from '../terminal/errors.ts'
import type { OutputStream } from '../terminal/io.ts'

export function execCommand(runLine: RunLine): Command {
  return {
    name: 'exec',
    summary: 'Run a command against a temporary academy',
    writes: ['academy', 'elsewhere', 'files', 'machine'],
    prints: [],
    exits: ['notRun', 'noCommand'],
    description: `Serves a new academy on a free port of the loopback, runs the command with its address in LEARNCTL_URL and an admin
API key in LEARNCTL_API_KEY, and deletes the academy when the command ends. Profiles and stored credentials of the
user are not used: inside, learnctl has a configuration of its own.

The exit code is that of the command, 128 + n if signal n ended it. SIGINT, SIGTERM and SIGHUP are passed on to the
command; a second signal kills it.

--dotenv-file is for programs that do not inherit the environment, such as docker run --env-file: it gets LEARNCTL_URL and
LEARNCTL_API_KEY, and is removed at the end. --webhooks-file gets what the academy would send as webhooks, one JSON
object a line: id, type, timestamp, data, and body, the bytes that an endpoint would get. No endpoint is needed.

--seed takes courses.csv, lessons.csv, users.csv, enrollments.csv, progress.csv or another format that import
takes, a course file (.yaml), academy.yaml, a folder with such files, or examples for the bundled data. With --clock
and --seed-id two runs have the same times and ids.

--from-snapshot begins with a copy of a saved snapshot, or of a database file, which stays as it is. The copy reaches
no other systems: its webhook endpoints are disabled, and its secrets of other systems cannot be used.`,
    arguments: [{ name: 'command', summary: 'Command to run, with its arguments, after --', rest: true }],
    flags: withTimeZone([
      {
        name: 'seed',
        kind: 'texts',
        placeholder: 'file',
        file: 'read',
        summary: 'File or folder to import first, or examples',
      },
      {
        name: 'from-snapshot',
        kind: 'text',
        placeholder: 'name|file',
        file: 'read',
        summary: 'Snapshot or database file to begin with (default an empty academy)',
      },
      {
        name: 'port',
        kind: 'number',
        summary: 'Port to serve the academy on (default any free port)',
      },
      {
        // Node itself reads --env-file, also behind the name of a script.
        name: 'dotenv-file',
        kind: 'text',
        placeholder: 'path',
        file: 'write',
        summary: 'Write LEARNCTL_URL and LEARNCTL_API_KEY to this file (mode 0600) during the run',
      },
      {
        name: 'webhooks-file',
        kind: 'text',
        placeholder: 'path',
        file: 'write',
        summary: 'Write the webhooks of the run to this file, one JSON object a line',
      },
      ...fixedFlags,
    ]),
    refuses: { ...noTarget, ...plainText, output: 'The output is that of the command' },
    examples: [
      'server exec -- node test.mjs',
      'server exec --seed users.csv --seed courses.csv -- node test.mjs',
      'server exec --dotenv-file .env.academy -- node test.mjs',
      'server exec --from-snapshot seeded --webhooks-file webhooks.jsonl -- node test.mjs',
      'server exec --seed examples --clock 2026-01-01 --seed-id 1 -- node test.mjs',
    ],
    run: (context, given) => exec(context, given, runLine),
  }
}

async function exec(context: Context, given: Given, runLine: RunLine): Promise<void> {
  const { io, settings, output } = context
  const { flags } = given
  const { findSeeds, makeRunDirectory, openEnvFile, openWebhookFile, removeDeadRuns } = await import(
    '../local-server/exec-run.ts'
  )
  const seeds = await findSeeds(io, textsIn(flags, 'seed'))
  const { fixedTime, seedId } = readFixedFlags(given)
  const port = readPort(flags['port'], 0)
  const snapshot = flags['from-snapshot'] === undefined ? undefined : String(flags['from-snapshot'])
  if (snapshot !== undefined && seedId !== undefined) {
    throw new UsageError('--from-snapshot and --seed-id cannot be used together', {
      why: ['Ids that the snapshot already has would be made again'],
    })
  }
  const from = snapshot === undefined ? undefined : await findStart(context, snapshot)
  if (given.rest[0] === '') throw new UsageError('<command> must not be empty')
  if (settings.dryRun.value)
    return output.note(`Would run ${given.rest.join(' ')} against a temporary academy`)
  const envFile =
    flags['dotenv-file'] === undefined ? undefined : openEnvFile(io.cwd, String(flags['dotenv-file']))
  const webhooks =
    flags['webhooks-file'] === undefined ? undefined : openWebhookFile(io.cwd, String(flags['webhooks-file']))
  const directory = await makeRunDirectory()
  const place: Place = {
    ...{ context, runLine, directory: directory.path, port, envFile, webhooks, fixedTime },
    ids: await idsOf(seedId, fixedTime),
  }
  try {
    if (from !== undefined) await begin(place, from)
    await plant(place, seeds)
    const swept = removeDeadRuns()
    const code = await serveWhile(place, given)
    await swept
    if (code !== 0) throw new ChildEnded(code)
  } finally {
    envFile?.remove()
    await directory.remove()
  }
}

/** `named` is a path, or the name of a snapshot. */
async function findStart(context: Context, named: string): Promise<string> {
  const path = resolve(context.io.cwd, named)
  if (statSync(path, { throwIfNoEntry: false })?.isFile()) return path
  if (/[\\/]|\.(db|sqlite3?)$/i.test(named)) {
    throw new CommandError('not_found', 'notFound', `Cannot read --from-snapshot ${named}: file not found`)
  }
  const database = await databaseFile(context, 'Name a database file', { mayMiss: true })
  return findSnapshot(database, named).path
}

async function begin({ context, directory }: Place, from: string): Promise<void> {
  const { io } = context
  const { copyForTests } = await import('../../server/academy/copy-for-tests.ts')
  const to = join(directory, 'academy.db')
  const now = () => new Date(io.now())
  await copyForTests({ from, to, now, watch: upgradeNotes(io, from) }).catch((error: unknown) => {
    if (error instanceof Error && 'path' in error && error.path === to) Object.assign(error, { path: from })
    throw databaseErrorOf(error)
  })
}

interface Place {
  readonly context: Context
  readonly runLine: RunLine
  readonly directory: string
  readonly port: number
  readonly envFile: EnvFile | undefined
  readonly webhooks: WebhookFile | undefined
  readonly fixedTime: string | undefined
  readonly ids: Parameters<Context['serve']>[0]['ids']
}

async function idsOf(seedId: number | undefined, fixedTime: string | undefined): Promise<Place['ids']> {
  if (seedId === undefined) return undefined
  const { seededIdMaker } = await import('../../server/database/id.ts')
  return seededIdMaker(seedId, () => (fixedTime === undefined ? new Date() : new Date(fixedTime)))
}

async function plant(place: Place, seeds: readonly Seed[]): Promise<void> {
  if (seeds.length === 0) return
  const { directory, fixedTime, ids } = place
  const { io, output } = place.context
  const now = () => (fixedTime === undefined ? io.now() : Date.parse(fixedTime))
  const inner = createContext(
    {
      ...io,
      now,
      stdout: discardingOutput(),
      stderr: discardingOutput(),
      env: {
        ...withoutOwnVariables(io.env),
        LEARNCTL_STATE_DIR: join(directory, 'state'),
        LEARNCTL_ANNOTATIONS: 'never',
      },
    },
    { database: join(directory, 'academy.db'), yes: true, noInput: true },
    {
      ...transports,
      local: async (options) =>
        (await import('../../server/academy/local-academy.ts')).openAcademy({
          ...options,
          ids,
          temporary: true,
        }),
    },
    { createsAcademy: true },
  )
  const silent = async () => {}
  const shown = { one: silent, text: silent, document: silent, done: silent }
  const innerContext = { ...inner, output: { ...inner.output, ...shown, note: output.note } }
  try {
    await inner.session.open({ silent: true })
    for (const seed of seeds) await plantOne(place, innerContext, seed)
  } finally {
    await inner.session.close()
  }
}

async function plantOne({ runLine }: Place, context: Context, seed: Seed): Promise<void> {
  if (seed.kind === 'examples') {
    const { loadExamples, readExampleData } = await import('../local-server/example-data.ts')
    await loadExamples(await context.session.caller(), await readExampleData())
    return
  }
  try {
    const { seedCommandLine } = await import('../local-server/exec-run.ts')
    await runLine(seedCommandLine(seed), context)
  } catch (error) {
    if (!(error instanceof ExitWith)) throw error
    throw new CommandError(
      'seed_incomplete',
      error.exit,
      `Cannot seed the academy: rows of ${seed.file} were rejected`,
      {
        why: ['The command was not run'],
      },
    )
  }
}

async function serveWhile(place: Place, { rest }: Given): Promise<number> {
  const { context, directory, port, envFile, webhooks, fixedTime, ids } = place
  const { io, settings } = context
  io.signal.throwIfAborted()
  const options = {
    path: join(directory, 'academy.db'),
    host: '127.0.0.1',
    port,
    allowHosts: [],
    publicUrl: undefined,
    corsOrigins: [],
    perMinute: 0,
    env: io.env,
    temporary: true,
    adminKey: true,
    // No user without a password signs in to this dashboard, and generating one takes a tenth of a second.
    firstPassword: false,
    writeLog: () => {},
    onEvents: webhooks?.add,
    fixedTime,
    ids,
  }
  const server = await context.serve(options).catch((error: unknown) => {
    throw listenError(error, options)
  })
  try {
    const config = join(directory, 'config')
    const profile = settings.profile.value
    // A project file or a variable may name a profile, which must exist.
    if (profile !== null) {
      const profiles = { [profile]: { url: server.url } }
      await createProfileStore(config, io).change(() => ({ active: null, profiles }))
    }
    const { runChild } = await import('../local-server/exec-run.ts')
    const { LEARNCTL_DATABASE, LEARNCTL_ACCESS_TOKEN, ...env } = io.env
    const own = { LEARNCTL_URL: server.url, LEARNCTL_API_KEY: server.firstKey }
    envFile?.write(own)
    return await runChild(io, rest, {
      ...env,
      ...own,
      LEARNCTL_CONFIG_DIR: config,
      LEARNCTL_STATE_DIR: join(directory, 'state'),
    })
  } finally {
    await server.stop()
    webhooks?.end()
  }
}

function discardingOutput(): OutputStream {
  return new Writable({ write: (_chunk, _encoding, done) => done() })
}

function withoutOwnVariables(env: Context['io']['env']): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('LEARNCTL_')))
}
