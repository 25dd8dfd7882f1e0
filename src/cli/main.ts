import { version } from '../contract/version.ts'
import type { Context } from './context.ts'
import { InterruptedError, ReaderGoneError } from './errors.ts'
import { exitCode } from './exit-codes.ts'
import { type Io, write } from './io.ts'
import { createProgram, HelpShown, type Invocation } from './program.ts'
import { ways as bothWays, type Ways } from './session.ts'

/**
 * Runs one command line (without the names of node and the program) and gives its exit code. Every fault ends here,
 * as text or JSON on standard error.
 */
export async function main(argv: readonly string[], io: Io, ways: Ways = bothWays): Promise<number> {
  let context: Context | null = null

  async function execute(invocation: Invocation): Promise<void> {
    const [{ createContext }, { completed }] = await Promise.all([
      import('./context.ts'),
      import('./given.ts'),
    ])
    context = createContext(io, invocation.globals, ways)
    try {
      await invocation.command.run(context, await completed(context, invocation))
    } finally {
      await context.session.close()
    }
  }

  try {
    if (argv[0] === '--version') await write(io.stdout, `${version}\n`)
    else await createProgram(io.stdout.columns ?? 80, execute).parse(argv)
    return exitCode('ok')
  } catch (error) {
    return await endOf(error, argv, io, context)
  }
}

async function endOf(
  error: unknown,
  argv: readonly string[],
  io: Io,
  context: Context | null,
): Promise<number> {
  const reason: unknown = io.signal.reason
  if (reason instanceof InterruptedError) return exitCode(reason.exit)
  if (error instanceof ReaderGoneError) return exitCode('ok')
  if (error instanceof HelpShown) {
    try {
      await write(io.stdout, error.message)
      return exitCode('ok')
    } catch (fault) {
      return endOf(fault, argv, io, context)
    }
  }
  const { report } = await import('./report.ts')
  return exitCode(await report(error, { argv, io, context }))
}
