import { resolve } from 'node:path'
import {
  bearerOf,
  credentialOf,
  isLocal,
  type Profile,
  type Profiles,
  profileOf,
} from '../../config/profiles.ts'
import { sources } from '../../config/settings.ts'
import { assertAddress } from '../../config/target.ts'
import type { Command, Given } from '../command/command.ts'
import { confirmAt } from '../command/confirm.ts'
import type { Context } from '../command/context.ts'
import { maskCredential } from '../output/mask.ts'
import { shapeOfValue } from '../output/value-shape.ts'
import { checkedName } from '../sign-in/profile-name.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'

const columns = ['name', 'active', 'academy', 'credential']
const nameArgument = { name: 'name', summary: 'Name of the profile' }

/** `learnctl profiles …` */
export const commands: readonly Command[] = [
  { name: 'list', summary: 'List profiles', examples: ['profiles list'], run: list },
  {
    name: 'show',
    summary: 'Show a profile, the active one unless another is named',
    arguments: [{ ...nameArgument, optional: true }],
    examples: ['profiles show', 'profiles show local -o json'],
    run: show,
  },
  {
    name: 'add',
    summary: 'Add a profile: an address, or a local academy',
    description:
      'With --url it is a platform elsewhere, with --database an academy in a file of this machine.',
    arguments: [nameArgument],
    flags: [{ name: 'use', kind: 'switch', summary: 'Make it the active one' }],
    examples: [
      'profiles add work --url https://academy.example.org',
      'profiles add trial --database trial.db',
    ],
    run: add,
  },
  {
    name: 'use',
    summary: 'Make a profile the active one',
    arguments: [nameArgument],
    examples: ['profiles use local'],
    run: use,
  },
  {
    name: 'remove',
    summary: 'Remove a profile and its credential; a local academy’s database stays',
    arguments: [nameArgument],
    examples: ['profiles remove work --yes'],
    run: remove,
  },
]

async function list({ profiles, output }: Context): Promise<void> {
  const stored = profiles.read()
  const rows = Object.keys(stored.profiles).map((name) => rowOf(stored, name))
  const shape = { table: columns, paths: columns }
  output.check(shape)
  await output.list([rows], shape)
}

async function show({ profiles, settings, output }: Context, given: Given): Promise<void> {
  const stored = profiles.read()
  const name = given.arguments['name'] ?? settings.profile.value ?? stored.active
  if (name === null) throw new CommandError('no_profile', 'notFound', 'no profile is active')
  find(stored, name)
  const row = rowOf(stored, name)
  const shape = shapeOfValue(row, columns)
  output.check(shape)
  await output.one(row, shape)
}

async function add(context: Context, given: Given): Promise<void> {
  const { settings, output } = context
  const name = checkedName(given.arguments['name'] ?? '')
  const profile = await profileFrom(context)
  const makeActive = given.flags['use'] === true
  await change(context, `would add profile ${name}`, (stored) => {
    if (Object.hasOwn(stored.profiles, name)) {
      throw new CommandError('profile_exists', 'conflict', `there is a profile ${name} already`, {
        hint: `learnctl profiles remove ${name}, or choose another name`,
      })
    }
    return {
      active: makeActive ? name : (stored.active ?? name),
      profiles: { ...stored.profiles, [name]: profile },
    }
  })
  if (!isLocal(profile) && !settings.dryRun.value) {
    await output.note(`sign in with: learnctl auth login --profile ${name}`)
  }
}

/** By `--url` or `--database`, whichever was given more specifically. */
async function profileFrom({ settings, io }: Context): Promise<Profile> {
  const { url, database } = settings
  const ranks = [url, database].map(({ origin }) => sources.indexOf(origin.source))
  if (ranks[0] === ranks[1]) {
    throw new UsageError('a profile needs either --url <address> or --database <file>')
  }
  if (database.value !== null && ranks.indexOf(Math.min(...ranks)) === 1) {
    return { database: resolve(io.cwd, database.value) }
  }
  const text = url.value ?? ''
  assertAddress(text, url.origin.name)
  const { normaliseBaseUrl } = await import('../../client/base-url.ts')
  return { url: normaliseBaseUrl(text) }
}

async function use(context: Context, given: Given): Promise<void> {
  const name = given.arguments['name'] ?? ''
  await change(context, `would make profile ${name} active`, (stored) => {
    find(stored, name)
    return { ...stored, active: name }
  })
}

async function remove(context: Context, given: Given): Promise<void> {
  const name = given.arguments['name'] ?? ''
  const profile = find(context.profiles.read(), name)
  await confirmAt(context, `remove profile ${name}`, `from ${context.profiles.path}`)
  const removal = () =>
    change(context, `would remove profile ${name}`, (stored) => ({
      active: stored.active === name ? null : stored.active,
      profiles: Object.fromEntries(Object.entries(stored.profiles).filter(([other]) => other !== name)),
    }))
  if (context.settings.dryRun.value) return removal()
  await context.profiles.exclusively(name, async () => {
    const credential = credentialOf(context.profiles.read(), name)
    const { endSession } = await import('../sign-in/end-session.ts')
    const reason = credential?.kind === 'oauth' ? await endSession(context, credential) : null
    await removal()
    if (reason !== null)
      await context.output.note(`its session could not be ended at the platform: ${reason}`)
  })
  if (isLocal(profile)) await context.output.note(`its database stays: ${profile.database}`)
}

async function change(
  context: Context,
  announcement: string,
  change: (stored: Profiles) => Profiles,
): Promise<void> {
  const { settings, profiles, output } = context
  if (!settings.dryRun.value) {
    await profiles.change(change)
    return
  }
  change(profiles.read())
  await output.note(announcement)
}

function rowOf({ active, profiles }: Profiles, name: string) {
  const profile = profiles[name]
  const remote = profile && !isLocal(profile) ? profile : null
  return {
    name,
    active: name === active,
    academy: profile && isLocal(profile) ? profile.database : (remote?.url ?? null),
    credential: remote?.credential ? maskCredential(bearerOf(remote.credential).value) : null,
  }
}

function find({ profiles }: Profiles, name: string): Profile {
  const profile = profileOf({ profiles }, name)
  if (profile) return profile
  const valid = Object.keys(profiles)
  throw new CommandError('profile_not_found', 'notFound', `there is no profile ${JSON.stringify(name)}`, {
    why: valid.length > 0 ? [`profiles: ${valid.join(', ')}`] : [],
    choice: { given: name, valid },
  })
}
