import { join } from 'node:path'
import { isJsonObject, parseJson } from '../codec/json-text.ts'
import { ConfigError, SettingError } from './errors.ts'
import { readRegularFile, UnreadableFileError } from './files.ts'
import { type Setting, settings } from './setting.ts'

/** The settings of a working directory as text, by name, and the path of their file. */
export interface ProjectFile {
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
