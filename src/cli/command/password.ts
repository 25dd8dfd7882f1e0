import { UsageError } from '../terminal/errors.ts'
import type { Context } from './context.ts'
import type { Flag } from './flag.ts'

/** When a command takes a password: always, or if its flag is set. */
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
