import { isLocal } from '../../config/profiles.ts'
import type { Command } from '../command.ts'
import type { Context } from '../context.ts'
import { AuthRequiredError, UsageError } from '../errors.ts'
import { maskCredential } from '../mask.ts'
import { shapeOfValue } from '../value-shape.ts'
import { login } from './auth-login.ts'

const users = async () => (await import('../../contract/users.ts')).users

/** `learnctl auth …` */
export const commands: readonly Command[] = [
  login,
  { name: 'logout', summary: 'Forget the credential of a profile', run: logout },
  { name: 'status', summary: 'Show which academy and which credential are used, and why', run: status },
]

async function logout({ settings, profiles, output, io }: Context): Promise<void> {
  const stored = profiles.read()
  const name = settings.profile.value ?? stored.active
  const profile = name === null ? undefined : stored.profiles[name]
  if (name === null || !profile) {
    const known = Object.keys(stored.profiles)
    throw new AuthRequiredError(
      name === null ? 'no profile is active' : `there is no profile ${JSON.stringify(name)}`,
      {
        ...(name !== null && { choice: { given: name, valid: known } }),
      },
    )
  }
  if (isLocal(profile)) throw new UsageError(`profile ${name} is local: it holds no credential`)
  if (settings.dryRun.value) return output.note(`would forget the credential of profile ${name}`)
  await profiles.change((now) => {
    const there = now.profiles[name]
    return there && !isLocal(there)
      ? { ...now, profiles: { ...now.profiles, [name]: { url: there.url } } }
      : now
  })
  await output.note(`profile ${name} holds no credential any more`)
  const still = ['LEARNCTL_API_KEY', 'LEARNCTL_ACCESS_TOKEN'].find((variable) => io.env[variable])
  if (still) await output.note(`${still} is still set`)
}

async function status(context: Context): Promise<void> {
  const { session, output, io } = context
  const academy = session.academy()
  const caller = await session.caller()
  const { profile } = await users()
  if (context.settings.dryRun.value) {
    const { showRequest } = await import('../dry-run.ts')
    return showRequest(context, caller.request(profile, { signal: io.signal }))
  }
  const { data: user } = await caller.call(profile, { signal: io.signal })
  const chosen = {
    profile: academy.profile,
    academy: academy.kind === 'local' ? academy.database : academy.url,
    chosenBy: academy.origin.name,
    insteadOf: academy.shadows.map(({ name }) => name),
  }
  const used = academy.kind === 'remote' ? academy.credential : null
  const credential = used && {
    kind: used.kind,
    value: maskCredential(used.value),
    from: used.origin.name,
    insteadOf: used.shadows.map(({ name }) => name),
  }
  const value = { ...chosen, credential, user: briefly(user) }
  const table = ['profile', 'academy', 'chosenBy', 'credential.from', 'user.email', 'user.role']
  await output.one(value, shapeOfValue(value, table))
}

/** Who that is and what they may do; all of it where a platform says it in words of its own. */
function briefly(user: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const known = ['id', 'email', 'username', 'role', 'scopes', 'authMethod'].filter((name) => name in user)
  return known.length === 0 ? user : Object.fromEntries(known.map((name) => [name, user[name]]))
}
