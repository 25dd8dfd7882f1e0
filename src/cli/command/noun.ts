import type { Command } from './command.ts'
import type { Context } from './context.ts'

/** Gives the help of the command at a path, `['courses', 'create']`; null where there is none. */
export type HelpOf = (path: readonly string[]) => Promise<string | null>

/** Runs another command line, without `learnctl`, in a context; throws what it throws. */
export type RunLine = (argv: readonly string[], context: Context) => Promise<void>

/** What a command can ask of the command line that it is part of. */
export interface Host {
  readonly helpOf: HelpOf
  /** The manual page of the whole program; `date` (ISO 8601) is when it was made. */
  readonly manual: (date: string) => Promise<string>
  readonly runLine: RunLine
}

/** One word after `learnctl`: a group of commands, or a command itself. */
export interface Noun {
  /** Under which heading the help shows it. */
  readonly group: string
  readonly summary: string
  /** What the first word of commands of two words is about, `grants` in `auth grants list`, by that word. */
  readonly groups?: Readonly<Record<string, string>>
  readonly load: (host: Host) => Promise<readonly Command[] | Command>
}
