import type { Environment } from './directories.ts'
import type { ProjectFile } from './project-file.ts'
import { type Setting, type SettingName, type SettingValues, settings } from './setting.ts'
import { parseSetting } from './setting-value.ts'

/** Sources of a value, most specific first. */
export const sources = ['flag', 'environment', 'project', 'profile', 'default'] as const
export type Source = (typeof sources)[number]

/** A source of a value by the name that the user knows: `--url`, `LEARNCTL_URL`, a path, `profile school`. */
export interface Origin {
  readonly source: Source
  readonly name: string
}

/** A value, its origin, and the less specific origins that it overrides. */
export interface Resolved<Value> {
  readonly value: Value
  readonly origin: Origin
  readonly shadows: readonly Origin[]
}

/** All global settings with their values and origins. */
export type Settings = { readonly [Name in SettingName]: Resolved<SettingValues[Name]> }

/** The sources of settings; flags by setting name. */
export interface SettingSources {
  readonly flags: Readonly<Record<string, unknown>>
  readonly env: Environment
  readonly project: ProjectFile | null
}

/**
 * Resolves all global settings: flag, then variable, then project file, then default. An empty variable
 * counts as unset. Throws a SettingError that names the origin of an invalid value.
 */
export function resolveSettings(from: SettingSources): Settings {
  const resolved = Object.entries<Setting>(settings).map(([name, setting]) => [
    name,
    resolveSetting(name, setting, from),
  ])
  // Each value was parsed by the kind of its setting.
  return Object.fromEntries(resolved) as Settings
}

function resolveSetting(name: string, setting: Setting, from: SettingSources): Resolved<unknown> {
  const [chosen, ...others] = givenTexts(name, setting, from)
  if (!chosen) return { value: setting.default, origin: { source: 'default', name: 'default' }, shadows: [] }
  const place = chosen.origin.source === 'project' ? `${chosen.origin.name}: ${name}` : chosen.origin.name
  const value = chosen.text === true ? true : parseSetting(chosen.text, place, setting)
  return { value, origin: chosen.origin, shadows: others.map(({ origin }) => origin) }
}

interface GivenText {
  readonly text: string | true
  readonly origin: Origin
}

/** Returns the texts given for a setting, most specific first; true is a switch that is on. */
function givenTexts(name: string, setting: Setting, { flags, env, project }: SettingSources): GivenText[] {
  const places: readonly (Origin & { readonly text: unknown })[] = [
    { source: 'flag', name: `--${setting.flag}`, text: flags[name] },
    { source: 'environment', name: setting.variable, text: env[setting.variable] },
    // CI systems set this variable.
    { source: 'environment', name: 'CI', text: name === 'noInput' && isSet(env['CI']) },
    { source: 'project', name: project?.path ?? '', text: project?.values[name] },
  ]
  return places.flatMap<GivenText>(({ text, ...origin }) => {
    if (text === true) return [{ text, origin }]
    return typeof text === 'string' && (text !== '' || origin.source === 'flag') ? [{ text, origin }] : []
  })
}

function isSet(text: string | undefined): boolean {
  return text !== undefined && !/^(0|false)?$/i.test(text)
}
