import { shellWord } from '../../codec/shell-word.ts'
import type { Target } from '../../config/target.ts'

/** Which command to sign in by. */
export interface SignInWay {
  /** Scopes to ask for. */
  readonly scopes?: readonly string[]
  /** By an API key. */
  readonly withKey?: boolean
  /** Also what the active profile would say. */
  readonly whole?: boolean
}

/** The command that signs in to this academy, and what of profile and address it has to name. */
export function signInCommand(target: Target | null, { scopes, withKey, whole }: SignInWay = {}): string {
  const words = ['learnctl auth login']
  if (withKey) words.push('--with-key')
  // Some of them a platform named. Whatever a shell would obey stays out of a command that somebody copies.
  const plain = scopes?.filter((scope) => /^[\w.:/-]+$/.test(scope))
  if (plain) words.push(`--scopes "${plain.join(' ')}"`)
  if (target?.kind !== 'remote') return words.join(' ')
  const profile = target.profile ?? target.credential?.kept?.profile ?? null
  const active = target.origin.source === 'profile'
  if (profile !== null && (whole || !active)) words.push(`--profile ${shellWord(profile)}`)
  if (whole || profile === null) words.push(`--url ${shellWord(target.url)}`)
  return words.join(' ')
}
