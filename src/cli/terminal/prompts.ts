import type { Settings } from '../../config/resolve-settings.ts'
import { CancelledError, UsageError } from './errors.ts'
import { type Io, streamOf } from './io.ts'

export interface Choice {
  readonly value: string
  readonly name: string
}

/** Prompts on standard error. Each throws a UsageError if prompts are disabled. */
export interface Prompts {
  /** Null if prompts are enabled. */
  readonly refusal: string | null
  /** Asks for a text, with `standard` as the default, until it is not empty and `check` accepts it. */
  text(message: string, check?: (text: string) => string | true, standard?: string): Promise<string>
  secret(message: string, check?: (text: string) => string | true): Promise<string>
  choice(message: string, choices: readonly string[]): Promise<string>
  pick(
    message: string,
    find: (term: string | undefined, signal: AbortSignal) => Promise<readonly Choice[]>,
  ): Promise<string>
  confirm(message: string): Promise<boolean>
  typed(message: string, expected: string): Promise<void>
  /** Clears the prompt after the answer. Returns null if `signal` cancels it. */
  meanwhile(
    message: string,
    check: (text: string) => string | true,
    signal: AbortSignal,
  ): Promise<string | null>
}

type PromptLibrary = Pick<
  typeof import('@inquirer/prompts'),
  'confirm' | 'input' | 'password' | 'search' | 'select'
>

const clearInvalid = { validationFailureMode: 'clear' } as const

/**
 * Creates prompts, which are enabled if standard input and standard error are terminals and `--no-input` is
 * not set.
 */
export function createPrompts(io: Io, settings: Settings): Prompts {
  const context = () => ({
    input: io.stdin,
    output: streamOf(io.stderr),
    signal: io.signal,
    clearPromptOnDone: false,
  })

  async function ask<Answer>(question: (library: PromptLibrary) => Promise<Answer>): Promise<Answer> {
    const refusal = promptsDisabledReason(io, settings)
    if (refusal) throw new UsageError('Input is required', { code: 'input_needed', why: [refusal] })
    // Named, so that the bundle leaves out the others: one of them brings tables of 150 encodings.
    const { confirm, input, password, search, select } = await import('@inquirer/prompts')
    try {
      return await question({ confirm, input, password, search, select })
    } catch (error) {
      if (error instanceof Error && /^(ExitPrompt|AbortPrompt|CancelPrompt)Error$/.test(error.name)) {
        throw new CancelledError()
      }
      throw error
    }
  }

  return {
    // A getter, because looking at standard input opens it.
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
        input(
          { message: `${message}\n  Type ${expected} to confirm:`, validate, theme: clearInvalid },
          context(),
        ),
      )
    },
    confirm: (message) => ask(({ confirm }) => confirm({ message, default: false }, context())),
    meanwhile: async (message, validate, signal) => {
      const cancellable = {
        ...context(),
        signal: AbortSignal.any([io.signal, signal]),
        clearPromptOnDone: true,
      }
      try {
        return await ask(({ input }) => input({ message, validate, theme: clearInvalid }, cancellable))
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
