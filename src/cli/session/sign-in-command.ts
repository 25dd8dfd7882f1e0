import { shellWord } from '../../codec/display-text.ts'
import { isLocal, type Profiles } from '../../config/profiles.ts'
import type { RemoteTarget, Target } from '../../config/target.ts'
import { AuthRequiredError } from '../terminal/errors.ts'

interface SignInWay {
  readonly scopes?: readonly string[]
  readonly withKey?: boolean
  /** Name the profile and the URL even if they are active. */
  readonly whole?: boolean
}

export function signInCommand(target: Target | null, { scopes, withKey, whole }: SignInWay = {}): string {
  const words = ['learnctl auth login']
  if (withKey) words.push('--with-key')
  // A platform may have named the scopes, and the user may copy the command: leave out characters that a
  // shell interprets.
  const plain = scopes?.filter((scope) => /^[\w.:/-]+$/.test(scope))
  if (plain) words.push(`--scopes "${plain.join(' ')}"`)
  if (target?.kind !== 'remote') return words.join(' ')
  const profile = target.profile ?? target.credential?.kept?.profile ?? null
  const active = target.origin.source === 'profile'
  if (profile !== null && (whole || !active)) words.push(`--profile ${shellWord(profile)}`)
  if (whole || profile === null) words.push(`--url ${shellWord(target.url)}`)
  return words.join(' ')
}

/** Suggests another profile that has a credential. */
export function missingCredentialError(target: RemoteTarget, { profiles }: Profiles): AuthRequiredError {
  const { url, withheld } = target
  const { origin } = new URL(url)
  const other = Object.entries(profiles).find(
    ([, profile]) => !isLocal(profile) && profile.credential?.origin === origin,
  )?.[0]
  const why = withheld
    ? [
        `The credential of profile ${withheld.profile} was stored for ${withheld.origin} and is sent only there`,
      ]
    : []
  if (other !== undefined) {
    return new AuthRequiredError(`No credential for ${origin}`, {
      why: [...why, `Profile ${other} has one`],
      hint: `Use that profile: --profile ${shellWord(other)}`,
    })
  }
  return new AuthRequiredError(`No credential for ${origin}`, {
    why,
    hint: `Set LEARNCTL_API_KEY, or sign in with \`${signInCommand(target, { whole: true })}\``,
  })
}
