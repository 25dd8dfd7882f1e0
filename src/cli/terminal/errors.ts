import type { ExitName } from './exit-codes.ts'

/** What a fault of this program tells beside its message. */
export interface FaultOptions extends ErrorOptions {
  /** Lines that say why, with the value or the place. */
  readonly why?: readonly string[]
  /** What to do, with the exact command where there is one. */
  readonly hint?: string
  /**
   * The value that was given and the ones that would be taken: a near one is suggested, or what a near one of other
   * words `means`.
   */
  readonly choice?: {
    readonly given: string
    readonly valid: readonly string[]
    readonly means?: Readonly<Record<string, string>>
  }
  /** What programs are told in place of `why`, one value for each of several faults. */
  readonly details?: readonly unknown[]
}

/** A fault that a command found by itself: what it means for the exit code, and what helps. */
export class CommandError extends Error {
  override readonly name: string = 'CommandError'
  readonly code: string
  readonly exit: ExitName
  readonly why: readonly string[]
  readonly hint: string | undefined
  readonly choice: FaultOptions['choice']
  readonly details: readonly unknown[]

  constructor(code: string, exit: ExitName, message: string, options: FaultOptions = {}) {
    super(message, options)
    this.code = code
    this.exit = exit
    this.why = options.why ?? []
    this.hint = options.hint
    this.choice = options.choice
    this.details = options.details ?? []
  }
}

/** The command line or an input file cannot be taken as it is. */
export class UsageError extends CommandError {
  override readonly name = 'UsageError'

  constructor(message: string, options: FaultOptions & { code?: string } = {}) {
    super(options.code ?? 'usage', 'usage', message, options)
  }
}

/** A credential is needed, or an academy has to be chosen first. */
export class AuthRequiredError extends CommandError {
  override readonly name = 'AuthRequiredError'

  constructor(message: string, options: FaultOptions = {}) {
    super('auth_required', 'auth', message, options)
  }
}

/** The person at the terminal broke off a question. */
export class CancelledError extends CommandError {
  override readonly name = 'CancelledError'

  constructor() {
    super('cancelled', 'interrupted', 'Cancelled')
  }
}

/** The work is done and printed; the exit code alone tells what was found. */
export class ExitWith extends Error {
  override readonly name = 'ExitWith'
  readonly exit: ExitName

  constructor(exit: ExitName) {
    super(exit)
    this.exit = exit
  }
}

/** Another program ran to its end; its exit code is that of the run. */
export class ChildEnded extends Error {
  override readonly name = 'ChildEnded'
  readonly exitCode: number

  constructor(exitCode: number) {
    super(`exit code ${exitCode}`)
    this.exitCode = exitCode
  }
}

/** The command line asked for help: `message` is the text, and the result. */
export class HelpShown extends Error {
  override readonly name = 'HelpShown'
}

/** The reader of standard output has gone: no fault, the work just ends. */
export class ReaderGoneError extends Error {
  override readonly name = 'ReaderGoneError'
  readonly code = 'reader_gone'
}

/** The process was told to end; this is the reason that every abort signal carries. */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError'
  readonly code = 'interrupted'
  readonly exit: ExitName

  constructor(signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP') {
    super(signal === 'SIGINT' ? 'interrupted' : 'terminated')
    this.exit = signal === 'SIGINT' ? 'interrupted' : 'terminated'
  }
}
