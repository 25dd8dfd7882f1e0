/** The same for every command; `help exit-codes` prints this table. */
export const exitCodes = {
  ok: { code: 0, when: 'Success; an empty list; help; version; output pipe closed by its reader' },
  failure: {
    code: 1,
    when: 'Unexpected error; 5xx after all retries; invalid response; operation not supported by the platform; failed doctor check; confirmation declined; 405, 421',
  },
  usage: {
    code: 2,
    when: 'Wrong flag, argument, choice or input file; 400, 413, 414, 415, 422, 431; input required, but prompts are disabled',
  },
  notFound: { code: 3, when: 'Resource not found (404)' },
  auth: { code: 4, when: 'No credential; 401; expired key; failed sign-in; ended session' },
  forbidden: { code: 5, when: 'Any other 403' },
  conflict: {
    code: 6,
    when: '409, 412; Idempotency-Key already used for another request; a plan that no longer fits; --max-deletes',
  },
  unavailable: {
    code: 7,
    when: 'Network, DNS or TLS failure; timeout; response cut short; 429 or 503 after all retries',
  },
  partial: { code: 8, when: 'Some items of a batch failed' },
  drift: {
    code: 9,
    when: 'diff, courses diff or roster diff found changes; records differ after roster apply or push',
  },
  notRun: { code: 126, when: 'server exec: the command cannot be run' },
  noCommand: { code: 127, when: 'server exec: the command was not found' },
  interrupted: { code: 130, when: 'Ctrl-C (SIGINT), after clean-up' },
  terminated: { code: 143, when: 'SIGTERM, or SIGHUP from a terminal that closes, after clean-up' },
} as const

export type ExitName = keyof typeof exitCodes

export function exitCode(name: ExitName): number {
  return exitCodes[name].code
}

/** A problem or a change at a place of a file, in words that all who can read the file's repository may see: without values of people. */
export interface Finding {
  readonly level: 'error' | 'warning' | 'notice'
  /** Null for no file. */
  readonly file: string | null
  /** Line from 1, or 0 for the file as a whole. */
  readonly line: number
  readonly text: string
}

export interface Findings {
  readonly list: readonly Finding[]
  readonly more: number
}

export interface FaultOptions extends ErrorOptions {
  readonly why?: readonly string[]
  /** Has the exact command if there is one. */
  readonly hint?: string
  /** The given value and the valid ones; the nearest is suggested, or what the nearest word `means`. */
  readonly choice?: {
    readonly given: string
    readonly valid: readonly string[]
    readonly means?: Readonly<Record<string, string>>
  }
  /** One value for each of several problems. */
  readonly details?: readonly unknown[]
  /** Problems that the message counts; it is without values of people, too. */
  readonly findings?: Findings
}

export class CommandError extends Error {
  override readonly name: string = 'CommandError'
  readonly code: string
  readonly exit: ExitName
  readonly why: readonly string[]
  readonly hint: string | undefined
  readonly choice: FaultOptions['choice']
  readonly details: readonly unknown[]
  readonly findings: Findings | undefined

  constructor(code: string, exit: ExitName, message: string, options: FaultOptions = {}) {
    super(message, options)
    this.code = code
    this.exit = exit
    this.why = options.why ?? []
    this.hint = options.hint
    this.choice = options.choice
    this.details = options.details ?? []
    this.findings = options.findings
  }
}

export class UsageError extends CommandError {
  override readonly name = 'UsageError'

  constructor(message: string, options: FaultOptions & { code?: string } = {}) {
    super(options.code ?? 'usage', 'usage', message, options)
  }
}

/** A missing credential, or no chosen platform or academy. */
export class AuthRequiredError extends CommandError {
  override readonly name = 'AuthRequiredError'

  constructor(message: string, options: FaultOptions = {}) {
    super('auth_required', 'auth', message, options)
  }
}

export class CancelledError extends CommandError {
  override readonly name = 'CancelledError'

  constructor() {
    super('cancelled', 'interrupted', 'Cancelled')
  }
}

export class ExitWith extends Error {
  override readonly name = 'ExitWith'
  readonly exit: ExitName

  constructor(exit: ExitName) {
    super(exit)
    this.exit = exit
  }
}

/** The exit code becomes that of the run. */
export class ChildEnded extends Error {
  override readonly name = 'ChildEnded'
  readonly exitCode: number

  constructor(exitCode: number) {
    super(`exit code ${exitCode}`)
    this.exitCode = exitCode
  }
}

/** `message` is the text of the help. */
export class HelpShown extends Error {
  override readonly name = 'HelpShown'
}

/** The reader of standard output has gone. Not an error: the run ends. */
export class ReaderGoneError extends Error {
  override readonly name = 'ReaderGoneError'
  readonly code = 'reader_gone'
}

/** The reason of every abort signal. */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError'
  readonly code = 'interrupted'
  readonly exit: ExitName

  constructor(signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP') {
    super(signal === 'SIGINT' ? 'interrupted' : 'terminated')
    this.exit = signal === 'SIGINT' ? 'interrupted' : 'terminated'
  }
}
