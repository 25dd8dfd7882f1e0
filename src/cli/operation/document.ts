import { JsonLimitError, parseJson } from '../../codec/json-text.ts'
import { UsageError } from '../terminal/errors.ts'
import type { Io } from '../terminal/io.ts'
import { readFileText, readInput } from '../terminal/text-input.ts'

/**
 * Reads the value that a flag points to: `@file.json`, `@file.yaml`, or `-` for standard input. Throws a UsageError
 * that names the file and the line of the problem.
 */
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

/** Reads the value of a flag that takes JSON, or a document by `@` or `-`. */
export async function readJsonOrDocument(io: Io, text: string, flag: string): Promise<unknown> {
  if (text === '-' || text.startsWith('@')) return readDocument(io, text, flag)
  try {
    return parseJson(text)
  } catch (error) {
    if (error instanceof JsonLimitError) throw unreadable(flag, error)
    throw new UsageError(`${flag} must be JSON: ${reasonOf(error)}`, {
      cause: error,
      hint: `From a file: ${flag} @file.json`,
    })
  }
}

async function parseDocument(text: string, name: string): Promise<unknown> {
  if (isJson(text, name)) return parseJsonDocument(text, name)
  return (await import('./yaml-document.ts')).parseYaml(text, name)
}

/** True for JSON, judged by the file's name or the beginning of the text. Throws a UsageError on empty text. */
export function isJson(text: string, name: string): boolean {
  if (text.trim() === '') throw new UsageError(`${name} is empty`)
  return /\.json$/i.test(name) || /^\s*[{[]/.test(text)
}

/** Parses JSON from a file of this name. Throws a UsageError that names the line. */
export async function parseJsonDocument(text: string, name: string): Promise<unknown> {
  try {
    return parseJson(text)
  } catch (error) {
    if (error instanceof JsonLimitError) throw unreadable(name, error)
    throw new UsageError(`${name}:${await placeOf(text)}: not JSON: ${reasonOf(error)}`, { cause: error })
  }
}

function unreadable(name: string, cause: JsonLimitError): UsageError {
  return new UsageError(`Cannot read ${name}: ${cause.message}`, { cause })
}

async function placeOf(text: string): Promise<string> {
  const { jsonFaultAt } = await import('./json-fault.ts')
  const before = text.slice(0, jsonFaultAt(text)).split('\n')
  return `${before.length}:${(before.at(-1)?.length ?? 0) + 1}`
}

/** Returns the engine's message without its excerpt of the text. */
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return message
    .replace(/ (in JSON )?at position \d+.*$/s, '')
    .replace(/, ("|\.\.\.).*is not valid JSON$/s, '')
}
