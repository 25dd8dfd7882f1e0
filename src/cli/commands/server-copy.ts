import { existsSync, realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { isDatabaseUrl } from '../../codec/database-url.ts'
import { formatCount } from '../../codec/display-text.ts'
import { makeDatabaseDirectory } from '../../config/files.ts'
import type { CopyProgress, CopySummary } from '../../server/copy/copy-academy.ts'
import type { CopyPlace } from '../../server/copy/copy-ends.ts'
import { type Command, type Given, notAList } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { postgresEnv } from '../local-server/serve-options.ts'
import { assertNoServer, encryptionKeyOf, servedUrl } from '../local-server/served-database.ts'
import { hasChosenForm } from '../output/output.ts'
import { databaseErrorOf, missingDatabaseError, upgradeNotes } from '../session/academy-file.ts'
import { CommandError, type ExitName, UsageError } from '../terminal/errors.ts'
import { type Io, note } from '../terminal/io.ts'
import { createProgressLine, type ProgressLine } from '../terminal/progress-line.ts'

const fields = ['from', 'to', 'rows', 'tables']
const shape = { table: ['from', 'to', 'rows'], paths: fields, identifier: 'to' }
const everyMs = 10_000
const named = 'Name the academies with --from and --to'

export const copyCommand: Command = {
  name: 'copy',
  summary: 'Copy an academy to another database',
  writes: ['academy', 'files'],
  prints: ['CopiedAcademy'],
  description: `Copies a whole academy: users, courses, progress, API keys, sessions and settings keep their ids, versions and hashes.
Then compares the copy with the original, row by row.

The target must be new or empty, and no server may be running for either. If the copy is interrupted, the target
is as before.`,
  flags: [
    {
      name: 'from',
      kind: 'text',
      placeholder: 'file|url',
      file: 'read',
      summary: 'Database of the academy to copy, a SQLite file or a PostgreSQL URL',
      required: true,
    },
    {
      name: 'to',
      kind: 'text',
      placeholder: 'file|url',
      file: 'write',
      summary: 'Database to copy it to, a new file or an empty PostgreSQL database',
      required: true,
    },
  ],
  refuses: { ...notAList, profile: named, url: named, database: named },
  examples: ['server copy --from academy.db --to copy.db'],
  run: runCopy,
}

async function runCopy(context: Context, { flags }: Given): Promise<void> {
  const { io, settings, output } = context
  output.check(shape)
  const from = await placeOf(io, flags['from'], '--from')
  const to = await placeOf(io, flags['to'], '--to')
  if (!from.postgres && !existsSync(from.name)) {
    throw await missingDatabaseError(context, from.name)
  }
  if (identityOf(from) === identityOf(to)) {
    throw new UsageError('--from and --to must be different databases')
  }
  for (const { name } of [from, to]) await assertNoServer(context, 'copy', name)
  if (settings.dryRun.value) return output.note(`Would copy ${from.name} to ${to.name}`)
  if (!to.postgres) makeDatabaseDirectory(io, to.name)
  const summary = await copyBetween(io, from, to)
  if (hasChosenForm(settings)) return output.one({ from: from.name, to: to.name, ...summary }, shape)
  const rows = formatCount(summary.rows)
  await output.done(
    `Copied ${from.name} to ${to.name} (${rows} rows in ${summary.tables.length} tables, compared)`,
  )
  const key = encryptionKeyOf(from.name)
  if (key === null) return
  const target = to.postgres ? 'start its servers with --encryption-key-file' : `copy that to ${to.name}.key`
  await output.note(`Its secrets are encrypted with ${key}; ${target}`)
}

async function placeOf(io: Io, place: unknown, flag: string): Promise<CopyPlace> {
  if (place === undefined) throw new UsageError(`${flag} is required`)
  if (place === '') throw new UsageError(`${flag} must be a file or a PostgreSQL URL, not empty`)
  const text = String(place)
  if (!isDatabaseUrl(text)) {
    const file = resolve(io.cwd, text)
    return { name: file, upgrade: upgradeNotes(io, file) }
  }
  const { name } = await servedUrl({ io }, text, flag)
  return { name, postgres: { url: text, env: postgresEnv(io), home: io.home } }
}

function identityOf({ name, postgres }: CopyPlace): string {
  return !postgres && existsSync(name) ? realpathSync(name) : name
}

async function copyBetween(io: Io, from: CopyPlace, to: CopyPlace): Promise<CopySummary> {
  const [{ copyAcademy }, { openCopyEnds }] = await Promise.all([
    import('../../server/copy/copy-academy.ts'),
    import('../../server/copy/copy-ends.ts'),
  ])
  const progress = progressLines(io)
  try {
    const ends = await openCopyEnds(from, to, () => new Date(io.now()))
    try {
      return await copyAcademy({ ...ends, signal: io.signal, onProgress: progress.update })
    } finally {
      await ends.close()
    }
  } catch (error) {
    progress.stop()
    throw copyFault(error)
  } finally {
    progress.stop()
  }
}

/** Prints progress: one line per table on a terminal, else one every 10 s. */
function progressLines(io: Io) {
  let what = ''
  let line: ProgressLine | undefined
  let saidMs = io.now()

  async function updateLine(verb: string, { table, rows, total }: CopyProgress): Promise<void> {
    const next = `${verb} ${wordsOf(table)}`
    if (what !== next) {
      line?.stop()
      what = next
      line = await createProgressLine(io, what, total)
    }
    await line?.update(rows)
  }

  async function say(verb: string, { table, rows, total }: CopyProgress): Promise<void> {
    if (io.now() - saidMs < everyMs) return
    saidMs = io.now()
    const [first = '', ...rest] = verb
    await note(
      io,
      `${first.toUpperCase()}${rest.join('')} ${formatCount(rows)} of ${formatCount(total)} rows of ${wordsOf(table)}`,
    )
  }

  return {
    update: (progress: CopyProgress) => {
      const verb = progress.phase === 'copy' ? 'copied' : 'compared'
      return io.stderr.isTTY ? updateLine(verb, progress) : say(verb, progress)
    },
    stop: () => line?.stop(),
  }
}

function wordsOf(table: string): string {
  return table.replaceAll('_', ' ')
}

const exits: Readonly<Record<string, ExitName>> = {
  not_empty: 'conflict',
  in_use: 'conflict',
  copy_differs: 'failure',
  text_refused: 'usage',
}

function copyFault(error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error)) return databaseErrorOf(error)
  const { name, code, message, cause } = error
  const hint = 'hint' in error && typeof error.hint === 'string' ? { hint: error.hint } : {}
  if (name === 'CopyError') {
    return new CommandError(String(code), exits[String(code)] ?? 'failure', message, {
      cause: error,
      ...hint,
    })
  }
  if (name === 'ProblemError') {
    return new CommandError('database_unavailable', 'unavailable', message.replace(/\.$/, ''), {
      cause: cause ?? error,
      hint: 'Nothing was copied; run the same command again',
    })
  }
  return databaseErrorOf(error)
}
