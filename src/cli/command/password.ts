import { UsageError } from '../terminal/errors.ts'
import type { Context } from './context.ts'
import type { Flag } from './flag.ts'

/** When a command takes a password: each time, or where its flag says so. */
export type PasswordUse = 'always' | 'on request'

/** Asks for a password. It is no value of a flag: the arguments of a program can be read by every user of a machine. */
export const passwordFlag: Flag = {
  name: 'password-stdin',
  kind: 'switch',
  summary: 'Read the password from standard input; on a terminal you are prompted for it twice',
}

/**
 * A new password, from standard input or typed twice; its rule is said before it is typed, and checked before it is
 * typed again. Throws a UsageError where there is none, or none that an academy takes.
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
  const { readInput } = await import('../terminal/text-input.ts')
  const password = (await readInput(io)).replace(/\r?\n$/, '')
  if (password === '') {
    throw new UsageError('No password on standard input', { hint: 'Append `< password.txt` to the command' })
  }
  if (/[\r\n]/.test(password)) {
    throw new UsageError('Invalid password: it has more than one line')
  }
  const fault = check(password)
  if (fault !== true) throw new UsageError(fault)
  return password
}
