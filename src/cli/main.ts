import type { Command, Invocation, RunApart } from './command/command.ts'
import type { Context } from './command/context.ts'
import type { ChangeEnd } from './session/bulk-change.ts'
import type { Transports } from './session/session.ts'
import {
  ChildEnded,
  CommandError,
  ExitWith,
  exitCode,
  HelpShown,
  InterruptedError,
  ReaderGoneError,
} from './terminal/errors.ts'
import { type Io, processIo, write } from './terminal/io.ts'

/**
 * Runs a command line (without the names of node and the program) and returns its exit code. All errors end
 * here, as text or JSON on standard error.
 */
export async function main(words: readonly string[], io: Io, transports?: Transports): Promise<number> {
  // Ids that a shell takes from a file with CRLF, such as CSV, end with a carriage return.
  const argv = words.map((word) => word.replace(/\r$/, ''))
  let context: Context | null = null
  let command: Command | null = null

  async function execute(invocation: Invocation): Promise<void> {
    const [{ createContext }, { runCommand, refuseSettings }] = await Promise.all([
      import('./command/context.ts'),
      import('./command/run-command.ts'),
    ])
    command = invocation.command
    context = createContext(
      io,
      invocation.globals,
      transports,
      command,
      invocation.name.replace(/^learnctl /, ''),
    )
    await refuseSettings(context, invocation)
    try {
      await runCommand(context, invocation)
      await context.endChanges('completed')
    } catch (error) {
      await context.endChanges(endOf(error, io.signal))
      throw error
    } finally {
      await context.session.close()
    }
  }

  const runApart: RunApart = async (argv, io, onReply) => {
    if (!onReply) return main(argv, io, transports)
    const [{ transports: real }, { watchReplies }] = await Promise.all([
      import('./session/session.ts'),
      import('./session/watch-transport.ts'),
    ])
    return main(argv, io, watchReplies(transports ?? real, onReply))
  }

  try {
    if (/^(--version|-V|-v)$/.test(argv[0] ?? '') || (argv[0] === 'version' && argv.length === 1))
      await showVersion(io)
    else if (argv[0] === completing) await completeLine(argv.slice(1), io)
    else await runOrHelp(argv, io, execute, runApart)
    return exitCode('ok')
  } catch (error) {
    // The exit code shows that a signal ended it.
    if (error instanceof ChildEnded) return error.exitCode
    const reason: unknown = io.signal.reason
    if (reason instanceof InterruptedError) {
      await reportInterruption(reason)
      return exitCode(reason.exit)
    }
    if (error instanceof ExitWith) return exitCode(error.exit)
    if (error instanceof ReaderGoneError) return exitCode('ok')
    const { report } = await import('./report.ts')
    return exitCode(await report(error, { argv, io, context }))
  }

  async function reportInterruption(reason: InterruptedError): Promise<void> {
    if (!command || command.interruption === 'ends') return
    const [{ report }, { interruptionFault }] = await Promise.all([
      import('./report.ts'),
      import('./failures.ts'),
    ])
    const fault = interruptionFault(reason, command.interruption, context?.session.unanswered() ?? [])
    await report(fault, { argv, io, context })
  }
}

function endOf(error: unknown, { aborted }: AbortSignal): ChangeEnd {
  if (aborted) return 'interrupted'
  if (error instanceof ReaderGoneError) return 'completed'
  const isPartial =
    (error instanceof ExitWith || error instanceof CommandError) &&
    (error.exit === 'partial' || error.exit === 'drift')
  return isPartial ? 'partial' : 'failed'
}

const completing = '__complete'

async function completeLine(argv: readonly string[], io: Io): Promise<void> {
  const [{ complete }, { nouns }] = await Promise.all([
    import('./completion/complete.ts'),
    import('./program/nouns.ts'),
  ])
  await complete(argv, io, nouns)
}

async function showVersion(io: Io): Promise<void> {
  const { version } = await import('../contract/version.ts')
  await write(io.stdout, `${version}\n`)
}

async function runOrHelp(
  argv: readonly string[],
  io: Io,
  execute: (invocation: Invocation) => Promise<void>,
  runApart: RunApart,
): Promise<void> {
  const { createHost, widthOf } = await import('./program/host.ts')
  const width = widthOf(io.stdout.columns)
  const host = createHost(width, runApart)
  // Help by whole words and one flag, the usual case, needs no parser.
  const isHelp = ['--help', '-h'].includes(argv.at(-1) ?? '')
  const help = isHelp ? await host.helpOf(argv.slice(0, -1)) : null
  if (help !== null) return write(io.stdout, help)
  const { createProgram } = await import('./program/program.ts')
  try {
    await createProgram(host, width, execute).parse(argv)
  } catch (error) {
    if (!(error instanceof HelpShown)) throw error
    await write(io.stdout, error.message)
  }
}

/** Sets the exit code without exiting, because output may be pending. */
export async function start(): Promise<void> {
  process.exitCode = await main(process.argv.slice(2), processIo())
}
