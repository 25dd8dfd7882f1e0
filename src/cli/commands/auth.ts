import { assertAddress } from '../../config/academy.ts'
import { isLocal, type Profiles } from '../../config/profiles.ts'
import type { Command } from '../command.ts'
import type { Context } from '../context.ts'
import { AuthRequiredError, UsageError } from '../errors.ts'
import { readInput } from '../io.ts'
import { maskCredential } from '../mask.ts'
import { shapeOfValue } from '../value-shape.ts'

const users = async () => (await import('../../contract/users.ts')).users

/** `learnctl auth …` */
export const commands: readonly Command[] = [
  {
    name: 'login',
    summary: 'Sign in to a platform with an API key',
    description:
      'The key is read from standard input; on a terminal it is asked for and not shown.\nIt is tried out before it is stored.',
    flags: [{ name: 'with-key', kind: 'switch', summary: 'Sign in with an API key' }],
    examples: ['auth login --with-key --url https://academy.example.org < key.txt'],
    run: login,
  },
  { name: 'logout', summary: 'Forget the credential of a profile', run: logout },
  { name: 'status', summary: 'Show which academy and which credential are used, and why', run: status },
]

async function login(context: Context, { flags }: Parameters<Command['run']>[1]): Promise<void> {
  const { io, settings, session, profiles, output } = context
  if (flags['with-key'] !== true) {
    throw new UsageError('say how to sign in', { hint: 'learnctl auth login --with-key' })
  }
  const { name, url } = await destination(context)
  const key = await readKey(context)
  session.use({
    kind: 'remote',
    url,
    credential: { kind: 'api_key', value: key, origin: { source: 'flag', name: 'auth login' }, shadows: [] },
    withheld: null,
    profile: name,
    origin: settings.url.value === null ? settings.profile.origin : settings.url.origin,
    shadows: [],
  })
  const caller = await session.caller()
  const { profile } = await users()
  if (settings.dryRun.value) {
    const { showRequest } = await import('../dry-run.ts')
    return showRequest(context, caller.request(profile, { signal: io.signal }))
  }
  const { data: user } = await caller.call(profile, { signal: io.signal })
  const credential = {
    kind: 'api_key',
    value: key,
    origin: new URL(url).origin,
    storedAt: new Date(io.now()).toISOString(),
  } as const
  await profiles.change((stored) => ({
    active: name,
    profiles: { ...stored.profiles, [name]: { url, credential } },
  }))
  await output.note(`signed in to ${url} as ${personIn(user)}; profile ${name} is active now`)
}

/** Where to sign in, and under which profile that is kept. */
async function destination({ settings, profiles, prompts }: Context): Promise<{ name: string; url: string }> {
  const stored = profiles.read()
  const { database, url: given, profile } = settings
  if (database.value !== null && given.value === null) refuseLocal(database.value)
  const named = profile.value ?? (given.value === null ? stored.active : null)
  const known = named === null ? undefined : stored.profiles[named]
  if (known && isLocal(known) && given.value === null) refuseLocal(known.database)
  const text =
    given.value ?? (known && !isLocal(known) ? known.url : await prompts.text('Address of the platform:'))
  assertAddress(text, given.value === null ? 'the address' : given.origin.name)
  const { normaliseBaseUrl } = await import('../../client/base-url.ts')
  const url = normaliseBaseUrl(text)
  const { checkedName } = await import('./profiles.ts')
  return { name: named === null ? nameFor(url, stored) : checkedName(named), url }
}

function refuseLocal(database: string): never {
  throw new UsageError(`the academy in ${database} is used without signing in`)
}

/** The profile that has this address already, else one named after its host. */
function nameFor(url: string, { profiles }: Profiles): string {
  const known = Object.entries(profiles).find(([, profile]) => !isLocal(profile) && profile.url === url)
  return known?.[0] ?? new URL(url).host.replace(/[^A-Za-z0-9]+/g, '-').replace(/^-|-$/g, '')
}

async function readKey({ io, prompts }: Context): Promise<string> {
  const text = io.stdin.isTTY ? await prompts.secret('API key:') : await readInput(io)
  const key = text.trim()
  if (key === '')
    throw new UsageError('there is no key on standard input', { hint: '… --with-key < key.txt' })
  if (!/^[\x21-\x7e]{1,4096}$/.test(key))
    throw new UsageError('what was given is not a key: it has spaces or lines')
  const { isCredential, credentialPrefixes } = await import('../../contract/credential-text.ts')
  if (key.startsWith(credentialPrefixes.apiKey) && !isCredential('apiKey', key)) {
    throw new UsageError('the key is damaged: its check characters are wrong', {
      code: 'damaged_key',
      hint: 'copy it once more, as a whole',
    })
  }
  return key
}

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

function personIn(user: { readonly email?: unknown; readonly id?: unknown }): string {
  return String(user.email ?? user.id ?? 'somebody')
}
