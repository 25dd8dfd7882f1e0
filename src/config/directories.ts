import { isAbsolute, join, resolve } from 'node:path'

export type Environment = Readonly<Record<string, string | undefined>>

export interface Place {
  readonly env: Environment
  readonly home: string
  readonly cwd: string
  readonly platform: NodeJS.Platform
}

/** Directories of configuration, state (running servers, logs), data (academies) and cache, all absolute. */
export interface Directories {
  readonly config: string
  readonly state: string
  readonly data: string
  /** The files of the single-file executable; all of it can be deleted at any time. */
  readonly cache: string
  /** Database of the profile `local`, and the default of a server. */
  readonly database: string
}

/**
 * Returns the program's directories: from `LEARNCTL_CONFIG_DIR` and `LEARNCTL_STATE_DIR`, else from the XDG
 * variables, else the platform's own. A relative XDG path is ignored (XDG Base Directory Specification).
 */
export function directoriesOf(place: Place): Directories {
  const { env, cwd, platform } = place
  const own = env['LEARNCTL_CONFIG_DIR']
  const ownState = env['LEARNCTL_STATE_DIR']
  const xdg = (name: string) => {
    const base = env[name]
    return base && isAbsolute(base) ? join(base, 'learnctl') : undefined
  }
  // HOME can be empty. The place may have more, such as streams that open when they are read.
  const standard = platformDirectories({ env, cwd, platform, home: resolve(cwd, place.home) })
  const data = xdg('XDG_DATA_HOME') ?? standard.data
  return {
    config: own ? resolve(cwd, own) : (xdg('XDG_CONFIG_HOME') ?? standard.config),
    state: ownState ? resolve(cwd, ownState) : (xdg('XDG_STATE_HOME') ?? standard.state),
    data,
    cache: xdg('XDG_CACHE_HOME') ?? standard.cache,
    database: join(data, 'local.db'),
  }
}

function platformDirectories({ env, home, platform }: Place) {
  if (platform === 'win32') {
    const local = join(env['LOCALAPPDATA'] || join(home, 'AppData', 'Local'), 'learnctl')
    return {
      config: join(env['APPDATA'] || join(home, 'AppData', 'Roaming'), 'learnctl'),
      state: join(local, 'State'),
      data: join(local, 'Data'),
      cache: join(local, 'Cache'),
    }
  }
  if (platform === 'darwin') {
    const support = join(home, 'Library', 'Application Support', 'learnctl')
    return {
      config: support,
      state: join(support, 'state'),
      data: join(support, 'data'),
      cache: join(home, 'Library', 'Caches', 'learnctl'),
    }
  }
  return {
    config: join(home, '.config', 'learnctl'),
    state: join(home, '.local', 'state', 'learnctl'),
    data: join(home, '.local', 'share', 'learnctl'),
    cache: join(home, '.cache', 'learnctl'),
  }
}
