import type { Document } from 'yaml'
import { isJsonObject, JsonLimitError, maxJsonDepth, parseJson } from '../../codec/json-text.ts'
import { UsageError } from './errors.ts'

/** Judged by the file's name or the beginning of the text. Throws a UsageError on empty text. */
export function isJson(text: string, name: string): boolean {
  if (text.trim() === '') throw new UsageError(`${name} is empty`)
  return /\.json$/i.test(name) || /^\s*[{[]/.test(text)
}

/** Throws a UsageError that names the line. */
export async function parseJsonDocument(text: string, name: string): Promise<unknown> {
  try {
    return parseJson(text)
  } catch (error) {
    if (error instanceof JsonLimitError) throw unreadable(name, error)
    throw new UsageError(`${name}:${await positionOf(text)}: not JSON: ${reasonOf(error)}`, { cause: error })
  }
}

function unreadable(name: string, cause: JsonLimitError): UsageError {
  return new UsageError(`Cannot read ${name}: ${cause.message}`, { cause })
}

async function positionOf(text: string): Promise<string> {
  const { jsonFaultIn } = await import('../../codec/json-fault.ts')
  const { line, column } = jsonFaultIn(text)
  return `${line}:${column}`
}

/** Leaves out the excerpt of the text in the engine's message. */
export function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return message
    .replace(/ (in JSON )?at position \d+.*$/s, '')
    .replace(/, ("|\.\.\.).*is not valid JSON$/s, '')
}

export interface PlacedValue {
  readonly value: unknown
  /** Counts from 1; for a missing value it is the line of its parent. */
  lineOf(path: readonly PropertyKey[]): number
}

/**
 * Parses a YAML 1.2 document, with integers beyond the safe range as bigints; loads the yaml library. Throws a
 * UsageError that names the line, also for text that nests too deeply or expands by its aliases.
 */
export async function parsePlacedYaml(text: string, name: string): Promise<PlacedValue> {
  const yaml = await import('yaml')
  const lineCounter = new yaml.LineCounter()
  const intAsBigInt = /\d{16}/.test(text)
  const document = yaml.parseDocument(text, { lineCounter, prettyErrors: false, intAsBigInt })
  const [fault] = document.errors
  if (fault) {
    // The parser reports its stack overflow as a syntax error.
    if (/call stack/.test(fault.message)) throw tooDeep(name, fault)
    const { line, col } = lineCounter.linePos(fault.pos[0])
    const reason =
      fault.code === 'MULTIPLE_DOCS'
        ? 'a second document begins here; put each into a file of its own'
        : `not YAML: ${fault.message}`
    throw new UsageError(`${name}:${line}:${col}: ${reason}`, { cause: fault })
  }
  try {
    const value: unknown = document.toJS()
    if (isDeeper(value, maxJsonDepth)) throw tooDeep(name)
    const lineOf = (path: readonly PropertyKey[]) => lineCounter.linePos(offsetOf(yaml, document, path)).line
    return { value: intAsBigInt ? plainIntegers(value) : value, lineOf }
  } catch (error) {
    if (error instanceof RangeError) throw tooDeep(name, error)
    if (!(error instanceof ReferenceError)) throw error
    const reason = /^Excessive alias/.test(error.message) ? 'its aliases expand too far' : error.message
    throw new UsageError(`Cannot read ${name}: ${reason}`, { cause: error })
  }
}

function offsetOf(
  { isAlias, isMap, isNode, isScalar, isSeq }: typeof import('yaml'),
  document: Document.Parsed,
  path: readonly PropertyKey[],
): number {
  let node: unknown = document.contents
  let at = isNode(node) ? node.range?.[0] : 0
  for (const step of path) {
    if (isAlias(node)) node = node.resolve(document)
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step))
      if (!pair) break
      if (isNode(pair.key)) at = pair.key.range?.[0] ?? at
      node = pair.value
    } else if (isSeq(node)) {
      node = node.items[Number(step)]
      if (!isNode(node)) break
      at = node.range?.[0] ?? at
    } else break
  }
  return at ?? 0
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((member) => isDeeper(member, levels - 1))
}

function tooDeep(name: string, cause?: Error): UsageError {
  return new UsageError(`Cannot read ${name}: it is nested more than ${maxJsonDepth} levels deep`, { cause })
}

/** Bigints become numbers if these are exact. */
function plainIntegers(value: unknown): unknown {
  if (typeof value === 'bigint') {
    const number = Number(value)
    return Number.isSafeInteger(number) ? number : value
  }
  if (Array.isArray(value)) return value.map(plainIntegers)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plainIntegers(member)]))
}
