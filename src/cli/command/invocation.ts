import type { Command } from './command.ts'
import type { FlagValues } from './flag-value.ts'

/** A command line as it was understood. */
export interface Invocation {
  readonly command: Command
  /** The whole command, `learnctl courses create`. */
  readonly name: string
  /** Global flags by setting name. */
  readonly globals: Readonly<Record<string, unknown>>
  readonly arguments: readonly string[]
  /** The command's own flags by their names. */
  readonly flags: FlagValues
}
