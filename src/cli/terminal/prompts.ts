import type { Settings } from '../../config/resolve-settings.ts'
import { CancelledError, UsageError } from './errors.ts'
import type { Io } from './io.ts'

/** One of a list to pick from. */
export interface Choice {
  readonly value: string
  readonly name: string
}

/** Questions to the person at the terminal, on standard error. Each throws a UsageError where none may be asked. */
export interface Prompts {
  /** Why nothing may be asked; null where it may. */
  readonly refusal: string | null
  /** Text that is not empty, or `standard` instead; one that `check` has something against has to be typed otherwise. */
  text(message: string, check?: (text: string) => string | true, standard?: string): Promise<string>
  /** Text that is not shown while it is typed; one that `check` has something against has to be typed otherwise. */
  secret(message: string, check?: (text: string) => string | true): Promise<string>
  choice(message: string, choices: readonly string[]): Promise<string>
  /** One of the choices that `find` gives for what was typed so far. */
  pick(
    message: string,
    find: (term: string | undefined, signal: AbortSignal) => Promise<readonly Choice[]>,
  ): Promise<string>
  confirm(message: string): Promise<boolean>
  /** Asks until `expected` is typed out. */
  typed(message: string, expected: string): Promise<void>
  /**
   * Asks until `check` has nothing against the answer, and takes the question off the screen again: also when `signal`
   * takes it back, which gives null.
   */
  meanwhile(
    message: string,
    check: (text: string) => string | true,
    signal: AbortSignal,
  ): Promise<string | null>
}

/** What was refused is taken away, to be typed anew. */
const retyped = { validationFailureMode: 'clear' } as const

/** Questions are asked only when standard input and standard error are terminals and input is not switched off. */
export function createPrompts(io: Io, settings: Settings): Prompts {
  const context = () => ({ input: io.stdin, output: io.stderr, signal: io.signal, clearPromptOnDone: false })

  async function ask<Answer>(
    question: (library: typeof import('@inquirer/prompts')) => Promise<Answer>,
  ): Promise<Answer> {
    const refusal = promptsDisabledReason(io, settings)
    if (refusal) throw new UsageError('Input is required', { code: 'input_needed', why: [refusal] })
    const library = await import('@inquirer/prompts')
    try {
      return await question(library)
    } catch (error) {
      if (error instanceof Error && /^(ExitPrompt|AbortPrompt|CancelPrompt)Error$/.test(error.name)) {
        throw new CancelledError()
      }
      throw error
    }
  }

  return {
    // Looked up when it is asked for: most runs have no need to open standard input.
    get refusal() {
      return promptsDisabledReason(io, settings)
    },
    text: (message, check = () => true, standard = undefined) => {
      const validate = (text: string) => (text.trim() === '' ? 'Required' : check(text))
      const more = standard === undefined ? {} : { default: standard }
      return ask(({ input }) => input({ message, validate, ...more }, context()))
    },
    secret: (message, check = () => true) =>
      ask(({ password }) => password({ message, mask: true, validate: check }, context())),
    choice: (message, choices) => ask(({ select }) => select({ message, choices: [...choices] }, context())),
    pick: (message, find) =>
      ask(({ search }) =>
        search({ message, source: (term, { signal }) => find(term, signal), pageSize: 10 }, context()),
      ),
    typed: async (message, expected) => {
      const validate = (text: string) =>
        text.trim() === expected || `Type ${expected}, or press Ctrl+C to cancel`
      await ask(({ input }) =>
        input({ message: `${message}\n  Type ${expected} to confirm:`, validate, theme: retyped }, context()),
      )
    },
    confirm: (message) => ask(({ confirm }) => confirm({ message, default: false }, context())),
    meanwhile: async (message, validate, signal) => {
      const fleeting = { ...context(), signal: AbortSignal.any([io.signal, signal]), clearPromptOnDone: true }
      try {
        return await ask(({ input }) => input({ message, validate, theme: retyped }, fleeting))
      } catch (error) {
        if (error instanceof CancelledError && signal.aborted && !io.signal.aborted) return null
        throw error
      }
    },
  }
}

function promptsDisabledReason(io: Io, { noInput }: Settings): string | null {
  if (noInput.value) return `Prompts are disabled (${noInput.origin.name})`
  if (!io.stdin.isTTY) return 'Cannot prompt: input is not a terminal'
  if (!io.stderr.isTTY) return 'Cannot prompt: standard error is not a terminal'
  return null
}
