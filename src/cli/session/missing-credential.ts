import { shellWord } from '../../codec/shell-word.ts'
import { isLocal, type Profiles } from '../../config/profiles.ts'
import type { RemoteTarget } from '../../config/target.ts'
import { AuthRequiredError } from '../terminal/errors.ts'
import { signInCommand } from './sign-in-command.ts'

/** What to say where a platform is meant and nothing can be sent to it; another profile that has a credential is named. */
export function missingCredential(target: RemoteTarget, { profiles }: Profiles): AuthRequiredError {
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
