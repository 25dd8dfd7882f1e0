import { assertAddress } from '../../config/academy.ts'
import { isLocal, type Profiles } from '../../config/profiles.ts'
import type { Command } from '../command.ts'
import type { Context } from '../context.ts'
import { UsageError } from '../errors.ts'
import { readInput } from '../io.ts'

const users = async () => (await import('../../contract/users.ts')).users

/** `learnctl auth login` */
export const login: Command = {
  name: 'login',
  summary: 'Sign in to a platform with an API key',
  description:
    'The key is read from standard input; on a terminal it is asked for and not shown.\nIt is tried out before it is stored.',
  flags: [{ name: 'with-key', kind: 'switch', summary: 'Sign in with an API key' }],
  examples: ['auth login --with-key --url https://academy.example.org < key.txt'],
  run,
}

async function run(context: Context, { flags }: Parameters<Command['run']>[1]): Promise<void> {
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

function personIn(user: { readonly email?: unknown; readonly id?: unknown }): string {
  return String(user.email ?? user.id ?? 'somebody')
}
