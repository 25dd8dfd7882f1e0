import { isJsonObject, parseJson } from '../../codec/json-text.ts'
import { valueAt } from '../../tables/column.ts'
import { parseExactNumber } from '../command/flag.ts'
import { setAt } from '../output/columns.ts'
import { UsageError } from '../terminal/errors.ts'
import type { Io } from '../terminal/io.ts'
import { isJson, parseJsonDocument, parsePlacedYaml, reasonOf } from '../terminal/parse-document.ts'
import { readFileText, readInput } from '../terminal/text-input.ts'

/** `@file.json`, `@file.yaml`, or `-` for standard input. Throws a UsageError that names the file and the line. */
export async function readDocument(io: Io, source: string, flag: string): Promise<unknown> {
  if (source === '-') return parseDocument(await readInput(io), 'Standard input')
  if (source.startsWith('@') && source.length > 1) {
    const path = source.slice(1)
    return path === '-' ? readDocument(io, '-', flag) : parseDocument(await readFileText(io, path), path)
  }
  throw new UsageError(`${flag} must be @file.json, @file.yaml or - for standard input`, {
    hint: /^\s*[{[]/.test(source)
      ? `Pipe the document: … | learnctl … ${flag} -`
      : `To read the file ${source}: ${flag} @${source}`,
  })
}

async function parseDocument(text: string, name: string): Promise<unknown> {
  if (isJson(text, name)) return parseJsonDocument(text, name)
  return (await parsePlacedYaml(text, name)).value
}

/** `--body` with each `--field name=value` applied to it; undefined if neither is given. */
export async function applyFields(io: Io, body: unknown, fields: readonly string[]): Promise<unknown> {
  const document = body === undefined ? undefined : await readDocument(io, String(body), '--body')
  if (fields.length === 0) return document
  if (document !== undefined && !isJsonObject(document)) {
    throw new UsageError('--field requires --body to be an object')
  }
  const target = { ...document }
  for (const field of fields) {
    const at = field.indexOf('=')
    if (at < 1) throw new UsageError(`--field must be name=value, not ${JSON.stringify(field)}`)
    const name = field.slice(0, at)
    const value = await parseFieldValue(io, field.slice(at + 1), `--field ${name}`)
    const path = name.replace(/\[\]$/, '')
    const before = valueAt(target, path)
    setAt(target, path.split('.'), path === name ? value : [...(Array.isArray(before) ? before : []), value])
  }
  return target
}

function parseText(text: string, flag: string): unknown {
  try {
    return parseJson(text)
  } catch (error) {
    throw new UsageError(`${flag} must be JSON: ${reasonOf(error)}`, { cause: error })
  }
}

async function parseFieldValue(io: Io, text: string, flag: string): Promise<unknown> {
  if (text === 'true') return true
  if (text === 'false') return false
  if (text === 'null') return null
  if (/^-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?$/i.test(text)) return parseExactNumber(text, flag)
  if (/^".*"$/s.test(text)) return parseText(text, flag)
  if (!text.startsWith('@')) return text
  if (/\.(json|ya?ml)$/i.test(text)) return readDocument(io, text, flag)
  return readFileText(io, text.slice(1))
}
