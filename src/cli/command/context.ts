import { join } from 'node:path'
import { chooseTarget } from '../../config/choose-target.ts'
import { type Directories, directoriesOf } from '../../config/directories.ts'
import { createProfileStore, type ProfileStore } from '../../config/profiles.ts'
import { readProjectFile, resolveSettings, type Settings } from '../../config/resolve-settings.ts'
import { createOutput, type Output } from '../output/output.ts'
import type { ChangeEnd } from '../session/bulk-change.ts'
import {
  transports as bothTransports,
  createSession,
  type Session,
  type Transports,
} from '../session/session.ts'
import { maskSecretsInText } from '../terminal/format-text.ts'
import { type Io, note } from '../terminal/io.ts'
import { createPrompts, type Prompts } from '../terminal/prompts.ts'

export interface Context {
  readonly io: Io
  readonly settings: Settings
  readonly directories: Directories
  readonly profiles: ProfileStore
  readonly session: Session
  readonly sessionWith: (profile: string) => Session
  readonly sessionAt: (database: string) => Session
  readonly endChanges: (state: ChangeEnd) => Promise<void>
  readonly output: Output
  readonly prompts: Prompts
  readonly serve: Transports['serve']
}

interface MissingAcademy {
  readonly createsAcademy?: boolean
  readonly plansForEmpty?: boolean
}

/**
 * Creates the context of one run from its global flags. Throws a SettingError for an invalid value.
 *
 * @param command what it does if the file of the local academy is missing (default nothing)
 * @param words words of the command, without the program's
 */
export function createContext(
  io: Io,
  flags: Readonly<Record<string, unknown>>,
  transports: Transports = bothTransports,
  { createsAcademy = false, plansForEmpty = false }: MissingAcademy = {},
  words = '',
): Context {
  const settings = resolveSettings({ flags, env: io.env, project: readProjectFile(io.cwd) })
  const places = directoriesOf(io)
  const profiles = createProfileStore(places.config, io, (mode, closed) => {
    const path = join(places.config, 'profiles.json')
    const now = closed
      ? 'The permissions are fixed now, but other users of this machine may have read it.'
      : `Run: chmod 600 ${path}`
    void note(io, `${path} was readable by others (0${mode.toString(8)}). ${now}`)
  })
  const mask = (text: string) => maskSecretsInText(text, session.secrets())
  const choose = () => chooseTarget({ settings, env: io.env, profiles: profiles.read(), cwd: io.cwd })
  const others: Session[] = []
  const creates = createsAcademy && !settings.dryRun.value
  const onMissing = creates ? 'create' : plansForEmpty ? 'empty' : 'refuse'
  const first = createSession({ io, settings, profiles, choose, transports, onMissing, command: words })
  const session: Session = {
    ...first,
    secrets: () => [first, ...others].flatMap((each) => each.secrets()),
    close: async () => {
      await Promise.all([first, ...others].map((each) => each.close()))
    },
  }
  const openOther = (place: Parameters<typeof placeAlone>[0]) => {
    const own = { ...settings, ...placeAlone(place) }
    // Credentials and the platform file in variables belong to the platform that the variables or flags name.
    const env = {}
    const withoutPlatform = { ...io, env: { ...io.env, LEARNCTL_PLATFORM: undefined } }
    const chosen = () => chooseTarget({ settings: own, env, profiles: profiles.read(), cwd: io.cwd })
    const other = createSession({
      ...{ io: withoutPlatform, settings: own, profiles, choose: chosen, transports },
      command: words,
    })
    others.push(other)
    return other
  }
  return {
    io,
    settings,
    directories: places,
    profiles,
    session,
    sessionWith: (profile) => openOther({ profile }),
    sessionAt: (database) => openOther({ database }),
    endChanges: async (state) => {
      await Promise.all([first, ...others].map((each) => each.change()?.end(state)))
    },
    output: createOutput(io, settings, mask),
    prompts: createPrompts(io, settings),
    serve: transports.serve,
  }
}

/** Settings that name only a profile, as the flag --to-profile does, or only a database. */
function placeAlone({
  profile,
  database,
}: {
  readonly profile?: string
  readonly database?: string
}): Pick<Settings, 'profile' | 'url' | 'database'> {
  const none = { value: null, origin: { source: 'default', name: 'default' }, shadows: [] } as const
  const by = (name: string, value: string | undefined) =>
    value === undefined ? none : { value, origin: { source: 'flag', name } as const, shadows: [] }
  return { profile: by('--to-profile', profile), url: none, database: by('--database', database) }
}

/** Returns false and prints a note if no browser could be opened. */
export async function openPage({ io, output }: Context, url: string): Promise<boolean> {
  try {
    await io.openBrowser(url)
    return true
  } catch (error) {
    await output.note(`Cannot open a browser: ${error instanceof Error ? error.message : error}`)
    return false
  }
}
