import { credentialOf, isLocal, profileOf, withCredential } from '../../config/profiles.ts'
import { overridingVariable } from '../../config/target.ts'
import type { Command } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { noColumns } from '../command/refusals.ts'
import { clearCompletionCache } from '../session/completion-cache.ts'
import { AuthRequiredError, UsageError } from '../terminal/errors.ts'

/** `learnctl auth logout` */
export const logout: Command = {
  name: 'logout',
  summary: 'Sign out: end the session and remove the credential of a profile',
  description:
    'The session is revoked on the platform first; if that fails, the credential is removed all the same.\nAn API key stays valid until it is revoked or expires.',
  refuses: {
    ...noColumns,
    url: 'Sign-out applies to a profile: use --profile',
    database: 'A local academy has no session',
  },
  examples: ['auth logout', 'auth logout --profile work'],
  run,
}

async function run(context: Context): Promise<void> {
  const { settings, profiles, output, io, directories } = context
  const name = profileNamed(context)
  const held = credentialOf(profiles.read(), name)
  if (settings.dryRun.value) {
    const first = held?.kind === 'oauth' ? `revoke the session at ${held.issuer} and ` : ''
    return output.note(`Would ${first}remove the credential of profile ${name}`)
  }
  const removed = await profiles.withCredentialLock(
    name,
    async () => {
      const credential = credentialOf(profiles.read(), name)
      const { endSession } = await import('../sign-in/end-session.ts')
      const reason = credential?.kind === 'oauth' ? await endSession(context, credential) : null
      await profiles.change((stored) => withCredential(stored, name, undefined))
      if (reason !== null) await output.note(`The session could not be revoked: ${reason}`)
      return credential
    },
    io.signal,
  )
  clearCompletionCache(directories.state)
  await output.done(
    removed
      ? `Signed out of ${removed.origin} (profile ${name})`
      : `Profile ${name} has no stored credential`,
  )
  const still = overridingVariable(io.env)
  if (still) await output.note(`${still} is still set`)
}

function profileNamed({ settings, profiles }: Context): string {
  const stored = profiles.read()
  const name = settings.profile.value ?? stored.active
  if (name === null) throw new AuthRequiredError('No profile is active')
  const profile = profileOf(stored, name)
  if (!profile) {
    const valid = Object.keys(stored.profiles)
    throw new AuthRequiredError(`Profile not found: ${name}`, {
      choice: { given: name, valid },
    })
  }
  if (isLocal(profile)) throw new UsageError(`Profile ${name} is a local academy, which has no credential`)
  return name
}
