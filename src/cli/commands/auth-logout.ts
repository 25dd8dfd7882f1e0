import { credentialOf, isLocal, profileOf, withCredential } from '../../config/profiles.ts'
import { overridingVariable } from '../../config/target.ts'
import type { Command } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { AuthRequiredError, UsageError } from '../terminal/errors.ts'

/** `learnctl auth logout` */
export const logout: Command = {
  name: 'logout',
  summary: 'Sign out: end the session and forget the credential of a profile',
  description:
    'The session is ended at the platform first; where that cannot be reached, the credential is\nforgotten all the same. An API key stays valid until it is revoked or expires.',
  examples: ['auth logout', 'auth logout --profile work'],
  run,
}

async function run(context: Context): Promise<void> {
  const { settings, profiles, output, io } = context
  const name = profileNamed(context)
  const held = credentialOf(profiles.read(), name)
  if (settings.dryRun.value) {
    const first = held?.kind === 'oauth' ? `end the session at ${held.issuer} and ` : ''
    return output.note(`would ${first}forget the credential of profile ${name}`)
  }
  const ended = await profiles.exclusively(
    name,
    async () => {
      const credential = credentialOf(profiles.read(), name)
      const { endSession } = await import('../sign-in/end-session.ts')
      const reason = credential?.kind === 'oauth' ? await endSession(context, credential) : null
      await profiles.change((stored) => withCredential(stored, name, undefined))
      if (reason !== null) await output.note(`the session could not be ended at the platform: ${reason}`)
      return credential?.kind === 'oauth' && reason === null
    },
    io.signal,
  )
  await output.note(`${ended ? 'the session has ended; ' : ''}profile ${name} holds no credential any more`)
  const still = overridingVariable(io.env)
  if (still) await output.note(`${still} is still set`)
}

function profileNamed({ settings, profiles }: Context): string {
  const stored = profiles.read()
  const name = settings.profile.value ?? stored.active
  if (name === null) throw new AuthRequiredError('no profile is active')
  const profile = profileOf(stored, name)
  if (!profile) {
    const valid = Object.keys(stored.profiles)
    throw new AuthRequiredError(`there is no profile ${JSON.stringify(name)}`, {
      choice: { given: name, valid },
    })
  }
  if (isLocal(profile)) throw new UsageError(`profile ${name} is local: it holds no credential`)
  return name
}
