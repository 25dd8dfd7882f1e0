import type { Command } from './command.ts'
import type { FlagValues } from './flag-value.ts'

/** A parsed command line. */
export interface Invocation {
  readonly command: Command
  /** Full name of the command: `learnctl courses create`. */
  readonly name: string
  /** Global flags by setting name. */
  readonly globals: Readonly<Record<string, unknown>>
  readonly arguments: readonly string[]
  /** The command's own flags by name. */
  readonly flags: FlagValues
}
