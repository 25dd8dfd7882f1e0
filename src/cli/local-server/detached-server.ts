import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { shellWord } from '../../codec/shell-word.ts'
import { makeDirectory, unwritable } from '../../config/make-directory.ts'
import { readRegularFile } from '../../config/read-file.ts'
import type { Context } from '../command/context.ts'
import { CommandError } from '../terminal/errors.ts'
import { type FirstSecrets, startText } from './first-secrets.ts'
import type { ServedDatabase } from './served-database.ts'

/** What a server can write before it ends without having served. */
const maximumLogBytes = 1024 * 1024

/**
 * Starts the same command once more as a process of its own, and returns when that serves. Its log goes to a file
 * under the state directory. Where its first secrets cannot be told it is stopped, and they are taken back. Throws a CommandError with the log's last line when it ends instead.
 */
export async function startDetached(
  { io, settings, directories, output }: Context,
  { name: database, url: databaseUrl }: ServedDatabase,
  takeBack: (secrets: FirstSecrets) => Promise<void>,
): Promise<void> {
  makeDirectory(directories.state, 'XDG_STATE_HOME')
  const log = join(directories.state, `server-${basename(database)}-${io.now().toString(36)}.log`)
  const file = openLog(log)
  const words = databaseUrl === undefined ? ownWords() : withoutDatabase(ownWords())
  const child = spawn(process.execPath, [...process.execArgv, ...words, '-o', 'json'], {
    detached: true,
    cwd: io.cwd,
    // The variable would be taken for a flag's.
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
    const reason = readRegularFile(log, maximumLogBytes).trim().split('\n').at(-1) ?? ''
    throw startFault(reason, log)
  }
  stdout.destroy()
  // The line is the one that this very program prints under `-o json`.
  const { url, ...secrets } = JSON.parse(line) as { url: string } & FirstSecrets
  const asJson = /^jsonl?$/.test(settings.output.value)
  try {
    await output.text(asJson ? `${line}\n` : startText(url, secrets))
  } catch (error) {
    child.kill('SIGTERM')
    await ended
    await takeBack(secrets)
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
    throw unwritable(path, error, 'XDG_STATE_HOME')
  }
}

/** The words of this run, without --detach and the format of its output. */
function ownWords(): string[] {
  const words = process.argv.slice(1)
  return words.filter(
    (word, index) =>
      word !== '--detach' && !/^(-o|--output)/.test(word) && !/^(-o|--output)$/.test(words[index - 1] ?? ''),
  )
}

/** Everybody on this machine sees the words of a process, but not its variables: the URL may have a password in it. */
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

/** The child's own fault, which it wrote as JSON. */
function startFault(reason: string, log: string): CommandError {
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
