import { randomBytes } from 'node:crypto'
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { directoriesOf } from '../config/directories.ts'
import { makeDirectory } from '../config/files.ts'
import { version } from '../contract/version.ts'
import { maskText } from './output/mask.ts'
import type { Io } from './terminal/io.ts'

const maxReports = 10
const maxLength = 64 * 1024

/** Content of an error report. */
interface ReportedFault {
  readonly argv: readonly string[]
  readonly error: unknown
  readonly requestId: string | null
  /** Credentials to remove. */
  readonly secrets: readonly string[]
}

/**
 * Writes a report on a bug to a file in the state directory, 0600, that users can send to the developers:
 * without credentials, values of the command line and names of home directories. Keeps the newest ten.
 * Returns the path; null if no file can be written.
 */
export function writeErrorReport(io: Io, { argv, error, requestId, secrets }: ReportedFault): string | null {
  const text = [
    `learnctl ${version}, Node ${process.version}, ${process.platform} ${process.arch}`,
    `Time: ${new Date(io.now()).toISOString()}`,
    `Command: learnctl ${withoutValues(argv).join(' ')}`,
    ...(requestId === null ? [] : [`Request id: ${requestId}`]),
    '',
    stackOf(error),
  ].join('\n')
  const masked = maskText(text, secrets).replaceAll(io.home.length > 1 ? io.home : '\0', '~')
  try {
    const directory = join(directoriesOf(io).state, 'error-reports')
    makeDirectory(directory, null)
    const time = new Date(io.now()).toISOString().replaceAll(':', '-')
    const path = join(directory, `${time}-${randomBytes(3).toString('hex')}.txt`)
    writeFileSync(path, `${masked.slice(0, maxLength)}\n`, { mode: 0o600, flag: 'wx' })
    const names = readdirSync(directory).filter((name) => name.endsWith('.txt'))
    for (const old of names.sort().slice(0, -maxReports)) rmSync(join(directory, old), { force: true })
    return path
  } catch {
    return null // The original error matters more.
  }
}

/** Returns the stack of an error and of its causes. */
export function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause === undefined ? '' : `\ncaused by ${stackOf(error.cause)}`
  return `${error.stack ?? error.message}${cause}`
}

/** Returns the command and the names of its flags, without values. */
function withoutValues(argv: readonly string[]): string[] {
  let names = 0
  return argv.map((word) => {
    if (word.startsWith('-')) return word.replace(/=.*$/s, '=…')
    if (!/^[a-z-]{1,20}$/.test(word) || names >= 2) return '…'
    names += 1
    return word
  })
}
