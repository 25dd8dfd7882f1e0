import type { Command } from './command.ts'
import type { Context } from './context.ts'

/** Returns the help of the command at a path, `['courses', 'create']`; null if there is none. */
export type HelpOf = (path: readonly string[]) => Promise<string | null>

/** Runs another command line, without `learnctl`, in a context; its errors propagate. */
export type RunLine = (argv: readonly string[], context: Context) => Promise<void>

/** Functions of the command line that a command may use. */
export interface Host {
  readonly helpOf: HelpOf
  /** Renders the manual page of the whole program; `date` (ISO 8601) is its date. */
  readonly manual: (date: string) => Promise<string>
  readonly runLine: RunLine
}

/** The first word after `learnctl`: a group of commands, or a command. */
export interface Noun {
  /** Heading in help. */
  readonly group: string
  readonly summary: string
  /** Summaries of subgroups by their word, such as `grants` in `auth grants list`. */
  readonly groups?: Readonly<Record<string, string>>
  readonly load: (host: Host) => Promise<readonly Command[] | Command>
}
