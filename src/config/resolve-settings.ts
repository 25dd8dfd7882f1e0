import { join } from 'node:path'
import { durationMs, parseDuration } from '../codec/duration.ts'
import { isJsonObject, parseJson } from '../codec/json-text.ts'
import type { Environment } from './directories.ts'
import { ConfigError, SettingError } from './errors.ts'
import { readRegularFile, UnreadableFileError } from './files.ts'
import {
  colourModes,
  formats,
  type Kind,
  type Kinds,
  type Setting,
  type SettingName,
  type SettingValues,
  settings,
  textFormats,
  variableOf,
} from './setting.ts'

/** Most specific first; `target.ts` adds those of the profile. */
export const sources = ['flag', 'environment', 'project', 'profile', 'default'] as const
export type Source = (typeof sources)[number]

/** Named as the user knows it: `--url`, `LEARNCTL_URL`, a path, `profile school`. */
export interface Origin {
  readonly source: Source
  readonly name: string
}

export interface Resolved<Value> {
  readonly value: Value
  readonly origin: Origin
  readonly shadows: readonly Origin[]
}

export type Settings = { readonly [Name in SettingName]: Resolved<SettingValues[Name]> }

/** Flags are by setting name. */
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
    { source: 'environment', name: variableOf(setting), text: env[variableOf(setting)] },
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

type Parser<Value> = (text: string, name: string, setting: Setting) => Value

const parsers: { readonly [K in Kind]: Parser<Kinds[K]> } = {
  text: (text) => text,
  names: (text, name) => {
    const names = text.split(',').map((item) => item.trim())
    if (names.includes(''))
      throw new SettingError(`${name} must be a list such as id,title, not ${quote(text)}`)
    return names
  },
  // A variable or the project file applies to commands that print no table, too.
  format: (text, name) => choose(text, name, name === '--output' ? formats : textFormats),
  colour: (text, name) => choose(text, name, colourModes),
  count: (text, name, { minimum = 0 }) => {
    const count = Number(text)
    if (/^\d{1,9}$/.test(text) && count >= minimum) return count
    throw new SettingError(`${name} must be a whole number, ${minimum} or more, not ${quote(text)}`)
  },
  duration: (text, name) => parseTimeout(text, name),
  switch: (text, name) => {
    if (/^(1|true|yes|on)$/i.test(text)) return true
    if (/^(0|false|no|off)$/i.test(text)) return false
    throw new SettingError(`${name} must be true or false, not ${quote(text)}`)
  },
}

// A longer timeout overflows the timer, which then fires at once.
const maxDurationMs = 24 * 3_600_000

/** `500ms`, `30s`, `2min` or `1h`. Throws a SettingError that names the setting `name`. */
export function parseTimeout(text: string, name: string): number {
  // m means minutes here: no timeout lasts months.
  const duration = parseDuration(text.replace(/^([\d.]+)m$/, '$1min'))
  const ms = Math.round((duration && durationMs(duration)) ?? Number.NaN)
  if (ms > 0 && ms <= maxDurationMs) return ms
  const hint = /^\d+$/.test(text) ? `Add a unit: ${text}s or ${text}ms` : undefined
  throw new SettingError(
    `${name} must be a duration such as 500ms, 30s or 2min (at most 24h), not ${quote(text)}`,
    hint ? { hint } : {},
  )
}

export function parseSetting(text: string, name: string, setting: Setting): Kinds[Kind] {
  return parsers[setting.kind](text, name, setting)
}

function choose<Choice extends string>(text: string, name: string, valid: readonly Choice[]): Choice {
  const chosen = valid.find((choice) => choice === text)
  if (chosen) return chosen
  throw new SettingError(`${name} must be one of ${valid.join(', ')}, not ${quote(text)}`, {
    choice: { given: text, valid },
  })
}

function quote(text: string): string {
  return JSON.stringify(text)
}

interface ProjectFile {
  readonly path: string
  readonly values: Readonly<Record<string, string>>
}

/** 64 KiB; the file has a handful of settings. */
const maxBytes = 64 * 1024

const allowed = Object.entries<Setting>(settings).flatMap(([name, { project }]) => (project ? [name] : []))

/**
 * Reads `learnctl.json` of the working directory, but not of its parents. It may only choose a profile and
 * the form of results: a cloned repository must not be able to send a credential elsewhere. Throws a
 * SettingError on any other setting.
 */
export function readProjectFile(cwd: string): ProjectFile | null {
  const path = join(cwd, 'learnctl.json')
  let text: string
  try {
    text = readRegularFile(path, maxBytes)
  } catch (error) {
    if (!(error instanceof UnreadableFileError)) throw error
    if (error.code === 'ENOENT') return null
    throw new ConfigError('config_unreadable', `Cannot read ${path}: ${error.message}`, { cause: error })
  }
  const values: Record<string, string> = {}
  for (const [name, value] of Object.entries(parse(text, path))) {
    if (!allowed.includes(name)) {
      throw new SettingError(`${path}: unknown setting ${JSON.stringify(name)}`, {
        hint: `Supported settings: ${allowed.join(', ')}`,
        choice: { given: name, valid: allowed },
      })
    }
    values[name] = asText(value, `${path}: ${name}`)
  }
  return { path, values }
}

function parse(text: string, path: string): object {
  let value: unknown
  try {
    value = parseJson(text)
  } catch (error) {
    throw new ConfigError('config_invalid', `${path} is not JSON`, { cause: error })
  }
  if (isJsonObject(value)) return value
  throw new ConfigError('config_invalid', `${path} is not a JSON object`)
}

function asText(value: unknown, name: string): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number') return String(value)
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value.join(',')
  throw new SettingError(`${name} must be text or a number, not ${JSON.stringify(value)}`)
}
