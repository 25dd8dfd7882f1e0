import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { isSea } from 'node:sea'
import { shellWord } from '../../codec/display-text.ts'
import { makeDirectory, readRegularFile, unwritableError } from '../../config/files.ts'
import type { Context } from '../command/context.ts'
import { CommandError } from '../terminal/errors.ts'
import type { ServedDatabase } from './served-database.ts'
import { type FirstSecrets, startText } from './start-report.ts'

/** Limit of what a server logs if it fails to start. */
const maxLogBytes = 1024 * 1024

/** Returns when it serves. Throws a CommandError with the last line of its log if it fails to start. */
export async function startDetached(
  { io, settings, directories, output }: Context,
  { name: database, url: databaseUrl }: ServedDatabase,
): Promise<void> {
  makeDirectory(directories.state, 'XDG_STATE_HOME')
  const log = join(directories.state, `server-${basename(database)}-${io.now().toString(36)}.log`)
  const file = openLog(log)
  const words = databaseUrl === undefined ? ownWords() : withoutDatabase(ownWords())
  const child = spawn(process.execPath, [...process.execArgv, ...words, '-o', 'json'], {
    detached: true,
    cwd: io.cwd,
    // The variable would count as a flag.
    env: {
      ...io.env,
      LEARNCTL_OUTPUT: 'json',
      ...(databaseUrl !== undefined && { LEARNCTL_DATABASE: databaseUrl }),
    },
    stdio: ['ignore', 'pipe', file],
  })
  closeSync(file)
  const ended = new Promise<null>((resolve) => child.once('exit', () => resolve(null)))
  const { stdout } = child
  if (!stdout) throw new TypeError('the pipe that was asked for is not there')
  const line = await Promise.race([firstLine(stdout), ended])
  if (line === null) {
    const reason = readRegularFile(log, maxLogBytes).trim().split('\n').at(-1) ?? ''
    throw startError(reason, log)
  }
  stdout.destroy()
  // This program printed the line, with `-o json`.
  const { url, ...secrets } = JSON.parse(line) as { url: string } & FirstSecrets
  const asJson = /^jsonl?$/.test(settings.output.value)
  try {
    await output.text(asJson ? `${line}\n` : startText(url, secrets))
  } catch (error) {
    child.kill('SIGTERM')
    await ended
    throw error
  }
  child.unref()
  const named = [settings.database.value, settings.profile.value, databaseUrl ?? null]
  const usual = named.every((value) => value === null)
  const which = usual ? '' : ` --database ${shellWord(database)}`
  await output.note(`Logging to ${log}; stop with: learnctl server stop${which}`)
}

function openLog(path: string): number {
  try {
    return openSync(path, 'a', 0o600)
  } catch (error) {
    throw unwritableError(path, error, 'XDG_STATE_HOME')
  }
}

function ownWords(): string[] {
  // A single-file executable is its own script.
  const words = process.argv.slice(isSea() ? 2 : 1)
  return words.filter(
    (word, index) =>
      word !== '--detach' && !/^(-o|--output)/.test(word) && !/^(-o|--output)$/.test(words[index - 1] ?? ''),
  )
}

/** Removes the database URL from the words: all users of this machine can see them, but not the variables. */
function withoutDatabase(words: readonly string[]): string[] {
  const flag = /^--database(-url-file)?$/
  return words.filter(
    (word, index) => !/^--database(-url-file)?(=|$)/.test(word) && !flag.test(words[index - 1] ?? ''),
  )
}

async function firstLine(stream: NodeJS.ReadableStream): Promise<string | null> {
  for await (const line of createInterface({ input: stream })) return line
  return null
}

/** `log` has the error as JSON. */
function startError(reason: string, log: string): CommandError {
  try {
    const { error } = JSON.parse(reason) as { error: { code: string; message: string; hint: string | null } }
    return new CommandError(
      error.code,
      'failure',
      error.message,
      error.hint === null ? {} : { hint: error.hint },
    )
  } catch {
    return new CommandError('not_started', 'failure', 'The server did not start', {
      why: [reason],
      hint: `See its log: ${log}`,
    })
  }
}
