import { UsageError } from '../terminal/errors.ts'
import { readInput } from '../terminal/io.ts'
import type { Context } from './context.ts'
import type { Flag } from './flag.ts'

/** When a command takes a password: each time, or where its flag says so. */
export type PasswordUse = 'always' | 'on request'

/** Asks for a password. It is no value of a flag: the arguments of a program can be read by every user of a machine. */
export const passwordFlag: Flag = {
  name: 'password-stdin',
  kind: 'switch',
  summary: 'Take the password from standard input; on a terminal it is asked for twice, and not shown',
}

/** A new password, from standard input or typed twice. Throws a UsageError where there is none. */
export async function readPassword({ io, prompts }: Pick<Context, 'io' | 'prompts'>): Promise<string> {
  if (io.stdin.isTTY) {
    const password = await prompts.secret('Password:')
    if (password === '') throw new UsageError('the password is empty')
    if (password === (await prompts.secret('Once more:'))) return password
    throw new UsageError('the two passwords are not the same')
  }
  const password = (await readInput(io)).replace(/\r?\n$/, '')
  if (password === '') {
    throw new UsageError('there is no password on standard input', { hint: '… < password.txt' })
  }
  if (/[\r\n]/.test(password)) {
    throw new UsageError('what was given is no password: it has more than one line')
  }
  return password
}
