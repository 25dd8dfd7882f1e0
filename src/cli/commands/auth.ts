import type { Command } from '../command/command.ts'
import { login } from './auth-login.ts'
import { logout } from './auth-logout.ts'
import { status } from './auth-status.ts'
import { token } from './auth-token.ts'

/** `learnctl auth …` */
export const commands: readonly Command[] = [login, logout, status, token]
