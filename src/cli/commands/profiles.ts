import { resolve } from 'node:path'
import { shellWord } from '../../codec/display-text.ts'
import { assertAddress, assertDatabasePath } from '../../config/choose-target.ts'
import {
  bearerOf,
  credentialOf,
  isLocal,
  type Profile,
  type Profiles,
  profileOf,
  type StoredPlatform,
} from '../../config/profiles.ts'
import { sources } from '../../config/resolve-settings.ts'
import { type Command, type Given, noColumns, noTarget, notAList } from '../command/command.ts'
import { confirmAt } from '../command/confirm.ts'
import type { Context } from '../command/context.ts'
import type { Flag } from '../command/flag.ts'
import { maskCredential } from '../output/mask.ts'
import { hasChosenForm, shapeOfValue } from '../output/output.ts'
import { validProfileName } from '../sign-in/sign-in-place.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'

const tableColumns = ['name', 'active', 'location', 'credential']
const columns = [...tableColumns, 'platform']
const platformFlag: Flag = {
  name: 'platform',
  kind: 'text',
  placeholder: 'file',
  file: 'read',
  summary: 'Platform file that describes the platform (docs/platforms.md); the profile keeps a copy',
}
const nameArgument = { name: 'name', summary: 'Name of the profile' }

export const commands: readonly Command[] = [
  {
    name: 'list',
    summary: 'List profiles',
    writes: [],
    prints: ['Profile[]'],
    refuses: { ...noTarget, limit: notAList.limit },
    examples: ['profiles list', 'profiles list -q'],
    run: list,
  },
  {
    name: 'get',
    summary: 'Show a profile',
    writes: [],
    prints: ['Profile'],
    arguments: [{ name: 'name', summary: 'Name of the profile (default the active one)', optional: true }],
    refuses: { ...notAList, url: noTarget.url, database: noTarget.database },
    examples: ['profiles get', 'profiles get local -o json'],
    run: show,
  },
  {
    name: 'add',
    summary: 'Add a profile for a platform or a local academy',
    writes: ['machine'],
    prints: ['Profile'],
    description:
      'Use --url for a platform, --database for a local academy. The first profile becomes the active one.',
    refuses: { ...noColumns, profile: noTarget.profile },
    arguments: [nameArgument],
    flags: [platformFlag],
    examples: [
      'profiles add work --url https://academy.example.org',
      'profiles add trial --database trial.db',
    ],
    run: add,
  },
  {
    name: 'describe',
    summary: 'Replace the platform file of a profile',
    writes: ['machine'],
    prints: ['Profile'],
    description:
      'The credential of the profile stays. Without a file, the profile is read by the usual rules again.',
    refuses: { ...noTarget, ...noColumns },
    arguments: [
      nameArgument,
      { name: 'file', summary: 'Platform file (default none)', optional: true, file: 'read' },
    ],
    examples: ['profiles describe local'],
    run: describe,
  },
  {
    name: 'check',
    summary: 'Compare a platform with its platform file',
    writes: [],
    prints: ['PlatformField[]'],
    description:
      'Asks the reading operations and shows where each field was found: fits is yes, guess (under another name, which a platform\nfile has to say) or missing. Each response is also read as commands read it. The values themselves are never shown. -o yaml\nprints a platform file to begin with. The exit code is 1 if something does not fit.',
    refuses: { ...notAList, dryRun: 'The check only reads' },
    examples: ['profiles check --profile work', 'profiles check --profile work -o yaml'],
    run: async (context) => (await import('./profile-check.ts')).checkPlatform(context),
  },
  {
    name: 'use',
    summary: 'Switch to a profile',
    writes: ['machine'],
    prints: ['Profile'],
    refuses: { ...noTarget, ...noColumns },
    arguments: [nameArgument],
    examples: ['profiles use local'],
    run: use,
  },
  {
    name: 'delete',
    summary: 'Delete profiles and their credentials',
    writes: ['machine'],
    prints: [],
    destructive: true,
    confirms: true,
    description: 'A session on the platform is ended first. The database of a local academy is kept.',
    refuses: { ...noTarget, ...noColumns },
    arguments: [{ ...nameArgument, rest: true }],
    examples: ['profiles delete work --yes'],
    run: remove,
  },
]

async function list({ profiles, output }: Context): Promise<void> {
  const stored = profiles.read()
  const rows = Object.keys(stored.profiles).map((name) => rowOf(stored, name))
  const shape = { table: tableColumns, paths: columns, identifier: 'name' }
  output.check(shape)
  await output.list([rows], shape)
}

async function show({ profiles, settings, output }: Context, given: Given): Promise<void> {
  const stored = profiles.read()
  const name = given.arguments['name'] ?? settings.profile.value ?? stored.active
  if (name === null)
    throw new CommandError('no_profile', 'notFound', 'No profile is active', {
      hint: 'List profiles: learnctl profiles list',
    })
  find(stored, name)
  const row = rowOf(stored, name)
  const shape = { ...shapeOfValue(row, columns), identifier: 'name' }
  output.check(shape)
  await output.one(row, shape)
}

async function add(context: Context, given: Given): Promise<void> {
  const { settings, output } = context
  const name = validProfileName(given.arguments['name'] ?? '')
  const profile = await profileFrom(context, given.flags[platformFlag.name])
  const changed = await changeProfiles(context, `Would add profile ${name}`, (stored) => {
    if (Object.hasOwn(stored.profiles, name)) {
      throw new CommandError('profile_exists', 'conflict', `Profile ${name} already exists`, {
        hint: `Choose another name, or delete it: learnctl profiles delete ${shellWord(name)}`,
      })
    }
    return {
      active: stored.active ?? name,
      profiles: { ...stored.profiles, [name]: profile },
    }
  })
  if (settings.dryRun.value) return
  await reportProfile(
    context,
    name,
    `Added profile ${name} (${placeOf(profile)})${changed.active === name ? ', now active' : ''}`,
  )
  if (!isLocal(profile)) await output.note(`Sign in with: learnctl auth login --profile ${shellWord(name)}`)
}

/** From `--url` or `--database`, whichever has precedence. */
async function profileFrom(context: Context, platform: unknown): Promise<Profile> {
  const { settings, io } = context
  const { url, database } = settings
  const ranks = [url, database].map(({ origin }) => sources.indexOf(origin.source))
  if (ranks[0] === ranks[1]) {
    throw new UsageError('Either --url <url> or --database <file> is required')
  }
  if (database.value !== null && ranks.indexOf(Math.min(...ranks)) === 1) {
    assertDatabasePath(database.value, database.origin)
    if (platform !== undefined) throw new UsageError('--platform and --database cannot be used together')
    return { database: resolve(io.cwd, database.value) }
  }
  const text = url.value ?? ''
  assertAddress(text, url.origin.name)
  const { normaliseBaseUrl } = await import('../../client/request.ts')
  const described = typeof platform === 'string' ? { platform: await readPlatform(context, platform) } : {}
  return { url: normaliseBaseUrl(text), ...described }
}

async function describe(context: Context, given: Given): Promise<void> {
  const name = given.arguments['name'] ?? ''
  const path = given.arguments['file']
  const platform = path === undefined ? null : await readPlatform(context, path)
  await changeProfiles(context, `Would change profile ${name}`, (stored) => {
    const profile = find(stored, name)
    if (isLocal(profile)) {
      if (platform === null) return stored
      throw new UsageError(`Profile ${name} is a local academy, which needs no platform file`)
    }
    const { platform: _, ...others } = profile
    const changed = { ...others, ...(platform && { platform }) }
    return { ...stored, profiles: { ...stored.profiles, [name]: changed } }
  })
  if (context.settings.dryRun.value) return
  const text = platform ? `is described by ${platform.name}` : 'has no platform file'
  await reportProfile(context, name, `Profile ${name} ${text}`)
}

async function readPlatform({ io }: Context, path: string): Promise<StoredPlatform> {
  return (await import('../session/platform-file.ts')).readPlatformFile(io.cwd, path)
}

async function use(context: Context, given: Given): Promise<void> {
  const name = given.arguments['name'] ?? ''
  const stored = await changeProfiles(context, `Would switch to profile ${name}`, (stored) => {
    find(stored, name)
    return { ...stored, active: name }
  })
  if (context.settings.dryRun.value) return
  await reportProfile(context, name, `Switched to profile ${name} (${placeOf(find(stored, name))})`)
}

async function remove(context: Context, given: Given): Promise<void> {
  const names = [...new Set(given.rest)]
  const stored = context.profiles.read()
  const found = names.map((name) => [name, find(stored, name)] as const)
  const what = names.length === 1 ? `profile ${names[0]}` : `${names.length} profiles (${names.join(', ')})`
  await confirmAt(context, `delete ${what}`, `from ${context.profiles.path}`)
  for (const [name, profile] of found) await removeOne(context, name, profile)
}

async function removeOne(context: Context, name: string, profile: Profile): Promise<void> {
  const removal = () =>
    changeProfiles(context, `Would delete profile ${name}`, (stored) => ({
      active: stored.active === name ? null : stored.active,
      profiles: Object.fromEntries(Object.entries(stored.profiles).filter(([other]) => other !== name)),
    }))
  if (context.settings.dryRun.value) {
    await removal()
    return
  }
  await context.profiles.withCredentialLock(name, async () => {
    const credential = credentialOf(context.profiles.read(), name)
    const { endSession } = await import('../sign-in/end-session.ts')
    const reason = credential?.kind === 'oauth' ? await endSession(context, credential) : null
    await removal()
    if (reason !== null)
      await context.output.note(`The session could not be ended on the platform: ${reason}`)
  })
  await context.output.done(`Deleted profile ${name}`)
  if (isLocal(profile)) await context.output.note(`The database is kept: ${profile.database}`)
}

/** In a dry run only describes the change. */
async function changeProfiles(
  context: Context,
  announcement: string,
  change: (stored: Profiles) => Profiles,
): Promise<Profiles> {
  const { settings, profiles, output } = context
  if (!settings.dryRun.value) return profiles.change(change)
  const changed = change(profiles.read())
  await output.note(announcement)
  return changed
}

async function reportProfile(
  { settings, profiles, output }: Context,
  name: string,
  text: string,
): Promise<void> {
  if (!hasChosenForm(settings)) return output.done(text)
  const row = rowOf(profiles.read(), name)
  await output.one(row, { ...shapeOfValue(row, columns), identifier: 'name' })
}

function placeOf(profile: Profile): string {
  return isLocal(profile) ? profile.database : profile.url
}

function rowOf({ active, profiles }: Profiles, name: string) {
  const profile = profiles[name]
  const remote = profile && !isLocal(profile) ? profile : null
  return {
    name,
    active: name === active,
    location: profile && isLocal(profile) ? profile.database : (remote?.url ?? null),
    credential: remote?.credential ? maskCredential(bearerOf(remote.credential).value) : null,
    platform: remote?.platform ? platformText(remote.platform) : null,
  }
}

function platformText({ name, digest }: StoredPlatform): string {
  return `${name} (${digest.slice(0, 12)})`
}

function find({ profiles }: Profiles, name: string): Profile {
  const profile = profileOf({ profiles }, name)
  if (profile) return profile
  const valid = Object.keys(profiles)
  throw new CommandError('profile_not_found', 'notFound', `Profile ${JSON.stringify(name)} not found`, {
    why: valid.length > 0 ? [`Profiles: ${valid.join(', ')}`] : [],
    choice: { given: name, valid },
  })
}
