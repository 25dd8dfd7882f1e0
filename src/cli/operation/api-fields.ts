import { isJsonObject } from '../../codec/json-text.ts'
import { parseExactNumber } from '../command/flag.ts'
import { setAt, valueAt } from '../output/columns.ts'
import { UsageError } from '../terminal/errors.ts'
import type { Io } from '../terminal/io.ts'
import { readFileText } from '../terminal/text-input.ts'
import { readDocument, readJsonOrDocument } from './document.ts'

const deepestField = 100

/**
 * Returns the body of `learnctl api`: `--body` with each `--field name=value` applied to it; undefined if neither is
 * given.
 */
export async function apiFields(io: Io, body: unknown, fields: readonly string[]): Promise<unknown> {
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
    const value = await typed(io, field.slice(at + 1), `--field ${name}`)
    const path = name.replace(/\[\]$/, '')
    if (path.split('.').length > deepestField) {
      throw new UsageError(`--field must not be nested more than ${deepestField} levels deep`)
    }
    const before = valueAt(target, path)
    setAt(target, path.split('.'), path === name ? value : [...(Array.isArray(before) ? before : []), value])
  }
  return target
}

async function typed(io: Io, text: string, flag: string): Promise<unknown> {
  if (text === 'true') return true
  if (text === 'false') return false
  if (text === 'null') return null
  if (/^-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?$/i.test(text)) return parseExactNumber(text, flag)
  if (/^".*"$/s.test(text)) return readJsonOrDocument(io, text, flag)
  if (!text.startsWith('@')) return text
  if (/\.(json|ya?ml)$/i.test(text)) return readDocument(io, text, flag)
  return readFileText(io, text.slice(1))
}
