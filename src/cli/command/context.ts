import { join } from 'node:path'
import { type Directories, directories } from '../../config/directories.ts'
import { createProfileStore, type ProfileStore } from '../../config/profile-store.ts'
import { readProjectFile } from '../../config/project-file.ts'
import { resolveSettings, type Settings } from '../../config/settings.ts'
import { chooseTarget } from '../../config/target.ts'
import { createOutput, type Output } from '../output/output.ts'
import {
  transports as bothTransports,
  createSession,
  type Session,
  type Transports,
} from '../session/session.ts'
import { type Io, note } from '../terminal/io.ts'
import { maskKnown } from '../terminal/mask-known.ts'
import { createPrompts, type Prompts } from '../terminal/prompts.ts'

/** What a command works with. */
export interface Context {
  readonly io: Io
  readonly settings: Settings
  readonly directories: Directories
  readonly profiles: ProfileStore
  readonly session: Session
  readonly output: Output
  readonly prompts: Prompts
  /** Serves an academy on a socket. */
  readonly serve: Transports['serve']
}

/** The context of one run, by its global flags. Throws a SettingError on a value that cannot be taken. */
export function createContext(
  io: Io,
  flags: Readonly<Record<string, unknown>>,
  transports: Transports = bothTransports,
): Context {
  const settings = resolveSettings({ flags, env: io.env, project: readProjectFile(io.cwd) })
  const places = directories(io)
  const profiles = createProfileStore(places.config, io, (mode, closed) => {
    const path = join(places.config, 'profiles.json')
    const now = closed
      ? 'The permissions are fixed now, but other users of this machine may have read it.'
      : `Run: chmod 600 ${path}`
    void note(io, `${path} was readable by others (0${mode.toString(8)}). ${now}`)
  })
  const mask = (text: string) => maskKnown(text, session.secrets())
  const choose = () => chooseTarget({ settings, env: io.env, profiles: profiles.read(), cwd: io.cwd })
  const session = createSession(io, settings, profiles, choose, transports)
  return {
    io,
    settings,
    directories: places,
    profiles,
    session,
    output: createOutput(io, settings, mask),
    prompts: createPrompts(io, settings),
    serve: transports.serve,
  }
}
