import { UsageError } from '../terminal/errors.ts'
import type { Context } from './context.ts'
import type { Flag, FlagValues } from './flag.ts'

/** Accepted through the flag `--<name>-stdin`. */
export interface SecretInput {
  readonly name: string
  readonly words: string
}

export const clientSecret: SecretInput = { name: 'client-secret', words: 'client secret' }
export const webhookSecret: SecretInput = { name: 'webhook-secret', words: 'webhook secret' }

/** Returns the flag for a secret. It has no value: other users of the machine can read a process's arguments. */
export function secretFlag({ name, words }: SecretInput): Flag {
  return {
    name: `${name}-stdin`,
    kind: 'switch',
    summary: `Read the ${words} from standard input; on a terminal you are prompted for it`,
  }
}

export function readsInput(flags: FlagValues, { name }: SecretInput): boolean {
  return flags[`${name}-stdin`] === true
}

/** Undefined without its flag. Throws a UsageError if the input is empty or has several lines. */
export async function readSecret(
  { io, prompts }: Pick<Context, 'io' | 'prompts'>,
  flags: FlagValues,
  input: SecretInput,
): Promise<string | undefined> {
  const { words } = input
  if (!readsInput(flags, input)) return undefined
  if (io.stdin.isTTY) return prompts.secret(`${words.replace(/^./, (first) => first.toUpperCase())}:`)
  return readLine(io, words, 'secret.txt')
}

async function readLine(io: Context['io'], words: string, file: string): Promise<string> {
  const { readInput } = await import('../terminal/text-input.ts')
  const text = (await readInput(io)).replace(/\r?\n$/, '')
  if (text === '') {
    throw new UsageError(`No ${words} on standard input`, { hint: `Append \`< ${file}\` to the command` })
  }
  if (/[\r\n]/.test(text)) throw new UsageError(`Invalid ${words}: it has more than one line`)
  return text
}

export type PasswordUse = 'always' | 'on request'

/**
 * Flag that prompts for a password. The password is not a flag's value: other users of the machine can read a
 * process's arguments.
 */
export const passwordFlag: Flag = {
  name: 'password-stdin',
  kind: 'switch',
  summary: 'Read the password from standard input; on a terminal you are prompted for it twice',
}

/**
 * Reads a new password from standard input, or typed twice. The rule is shown before the first entry and checked
 * before the second. Throws a UsageError without a valid password.
 */
export async function readPassword({ io, prompts }: Pick<Context, 'io' | 'prompts'>): Promise<string> {
  const { Password } = await import('../../contract/users.ts')
  const length = `${Password.minLength} to ${Password.maxLength} characters`
  const check = (text: string) => {
    const [issue] = Password.safeParse(text).error?.issues ?? []
    return !issue || `The password ${issue.code === 'custom' ? issue.message : `must have ${length}`}`
  }
  if (io.stdin.isTTY) {
    const password = await prompts.secret(`Password (${length}):`, check)
    if (password === (await prompts.secret('Repeat the password:'))) return password
    throw new UsageError('The passwords do not match')
  }
  const password = await readLine(io, 'password', 'password.txt')
  const fault = check(password)
  if (fault !== true) throw new UsageError(fault)
  return password
}
