import { UsageError } from '../terminal/errors.ts'
import type { Context } from './context.ts'
import type { Flag } from './flag.ts'
import type { FlagValues } from './flag-value.ts'

/** A secret that a command may be given: the flags for it are `--<name>-stdin` and `--<name>-env`. */
export interface SecretInput {
  /** In kebab-case: `webhook-secret`. */
  readonly name: string
  /** In a sentence: `webhook secret`. */
  readonly words: string
}

/** The two ways to give a secret, which is no value of a flag: the arguments of a program can be read by others. */
export function secretFlags({ name, words }: SecretInput): readonly Flag[] {
  return [
    {
      name: `${name}-stdin`,
      kind: 'switch',
      summary: `Read the ${words} from standard input; on a terminal you are prompted for it`,
    },
    {
      name: `${name}-env`,
      kind: 'text',
      placeholder: 'variable',
      summary: `Read the ${words} from this environment variable`,
    },
  ]
}

/** True where standard input is to be read as a secret. */
export function readsInput(flags: FlagValues, { name }: SecretInput): boolean {
  return flags[`${name}-stdin`] === true
}

/**
 * The secret that was given; undefined where none was. Throws a UsageError where there is nothing in its place, or more
 * than one line.
 */
export async function readSecret(
  { io, prompts }: Pick<Context, 'io' | 'prompts'>,
  flags: FlagValues,
  input: SecretInput,
): Promise<string | undefined> {
  const { name, words } = input
  const variable = flags[`${name}-env`]
  const fromInput = readsInput(flags, input)
  if (fromInput && variable !== undefined) {
    throw new UsageError(`--${name}-stdin and --${name}-env cannot be used together`)
  }
  if (variable !== undefined) {
    const value = io.env[String(variable)] ?? ''
    if (value !== '') return oneLine(value, words)
    throw new UsageError(`Environment variable ${String(variable)} is not set`, {
      why: [`--${name}-env takes the name of a variable that holds the ${words}`],
    })
  }
  if (!fromInput) return undefined
  if (io.stdin.isTTY) return prompts.secret(`${words.replace(/^./, (first) => first.toUpperCase())}:`)
  const { readInput } = await import('../terminal/text-input.ts')
  const text = (await readInput(io)).replace(/\r?\n$/, '')
  if (text !== '') return oneLine(text, words)
  throw new UsageError(`No ${words} on standard input`, { hint: 'Append `< secret.txt` to the command' })
}

function oneLine(text: string, words: string): string {
  if (!/[\r\n]/.test(text)) return text
  throw new UsageError(`Invalid ${words}: it has more than one line`)
}
