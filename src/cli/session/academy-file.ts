import { closeSync, mkdtempSync, openSync, readdirSync, readSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, extname, join } from 'node:path'
import { shellWord } from '../../codec/display-text.ts'
import { isLocal, localProfile, type ProfileStore } from '../../config/profiles.ts'
import type { Origin } from '../../config/resolve-settings.ts'
import type { UpgradeWatch } from '../../server/academy/upgrade-in-process.ts'
import { CommandError, type ExitName } from '../terminal/errors.ts'
import { type Io, note } from '../terminal/io.ts'

/** Error code for a missing database, or one without an academy. */
export const databaseMissing = 'database_missing'

const unusable = ['database_unusable', 'failure'] as const
const codesByKind: Readonly<Record<string, readonly [code: string, exit: ExitName]>> = {
  missing: [databaseMissing, 'notFound'],
  unreachable: ['database_unreachable', 'unavailable'],
  refused: ['database_refused', 'auth'],
  invalid: ['invalid_setting', 'usage'],
}

/** Returns other errors unchanged. */
export function databaseErrorOf(error: unknown): unknown {
  // instanceof would load the server.
  if (!(error instanceof Error) || error.name !== 'DatabaseError' || !('path' in error)) return error
  const hint = 'hint' in error && typeof error.hint === 'string' ? { hint: error.hint } : {}
  const [code, exit] = codesByKind['kind' in error ? String(error.kind) : ''] ?? unusable
  return new CommandError(code, exit, `${error.path} ${error.message}`, {
    cause: error,
    ...hint,
  })
}

const maxNamed = 3
/** Header of every SQLite database (SQLite, Database File Format §1.3). */
const magic = 'SQLite format 3\0'

/** Suggests the nearest databases in the directory, and the local profile's. */
export async function missingDatabaseError(
  { profiles }: { readonly profiles: ProfileStore },
  database: string,
  origin?: Origin,
): Promise<CommandError> {
  const { findNearest } = await import('../../codec/nearest.ts')
  const folder = dirname(database)
  const files = databasesIn(folder)
  const near = findNearest(basename(database), files)
  const known = profiles.read().profiles[localProfile]
  const local = known && isLocal(known) && known.database !== database ? known.database : null
  const own = local !== null && isDatabase(local) ? local : null
  const found = (near.length > 0 ? near : files)
    .slice(0, maxNamed)
    .map((name) => join(folder, name))
    .filter((path) => path !== own)
  const place = shellWord(database)
  return new CommandError(databaseMissing, 'notFound', `Database not found: ${database}`, {
    why: [
      ...(origin ? [`It is named by ${origin.name}`] : []),
      ...(found.length > 0 ? [`${near.length > 0 ? 'Nearest' : 'In that folder'}: ${found.join(', ')}`] : []),
      ...(own !== null ? [`Profile ${localProfile}: ${own}`] : []),
    ],
    hint: `To create an academy there: learnctl server start --database ${place} (empty), or learnctl quickstart --database ${place} (example data)`,
  })
}

function databasesIn(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter(
        (entry) =>
          (entry.isFile() || entry.isSymbolicLink()) && /^\.(db|sqlite3?)$/i.test(extname(entry.name)),
      )
      .map(({ name }) => name)
      .sort()
      .filter((name) => isDatabase(join(folder, name)))
  } catch {
    return []
  }
}

function isDatabase(path: string): boolean {
  try {
    const file = openSync(path, 'r')
    try {
      const head = Buffer.alloc(magic.length)
      return readSync(file, head) === magic.length && head.toString('latin1') === magic
    } finally {
      closeSync(file)
    }
  } catch {
    return false
  }
}

const mebibyte = 1024 * 1024

/**
 * Notes that a large academy is being upgraded, how long that takes, and its progress every ten seconds;
 * Ctrl-C aborts it. Measured: 43 s of processor time per gigabyte, with 1 million learners and 5 million
 * enrolments.
 */
export function upgradeNotes(
  io: Pick<Io, 'stderr' | 'signal'>,
  path: string,
  mebibytes = (statSync(path, { throwIfNoEntry: false })?.size ?? 0) / mebibyte,
): UpgradeWatch {
  let reported = 0
  return {
    signal: io.signal,
    async onProgress({ step, steps, elapsedMs }) {
      reported += 1
      if (reported === 1) {
        const minutes = Math.max(1, Math.ceil(mebibytes / 1024))
        const time = minutes === 1 ? 'a minute' : `${minutes} minutes`
        await note(
          io,
          `Upgrading ${path} for this version of learnctl; this takes about ${time}, and can be interrupted`,
        )
      }
      await note(io, `Upgrade: step ${step} of ${steps} (${spanOf(elapsedMs)})`)
    },
  }
}

function spanOf(ms: number): string {
  const seconds = Math.round(ms / 1000)
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

/** Shows a plan of what would be made; closing it deletes it. `open` creates an academy in a file. */
export async function openEmptyAcademy<Academy extends { readonly close: () => Promise<void> }>(
  io: Io,
  database: string,
  open: (path: string) => Promise<Academy>,
): Promise<Academy> {
  const folder = mkdtempSync(join(tmpdir(), 'learnctl-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  try {
    const academy = await open(join(folder, 'academy.db'))
    await note(io, `Database not found: ${database}; the plan is for an empty academy`)
    const close = async () => {
      await academy.close()
      remove()
    }
    return { ...academy, close }
  } catch (error) {
    remove()
    throw error
  }
}
