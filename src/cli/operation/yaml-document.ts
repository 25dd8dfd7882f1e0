import { isJsonObject } from '../../codec/json-object.ts'
import { deepest } from '../../codec/json-text.ts'
import { UsageError } from '../terminal/errors.ts'

/** The reader takes some seconds and 400 MB for this much; JSON of the same size takes a hundredth of both. */
const maximumLength = 1024 * 1024

/** A value, and where its parts stand in the text. */
export interface PlacedValue {
  readonly value: unknown
  /** The line of what a path leads to, from 1; where there is no such thing, that of what would hold it. */
  lineOf(path: readonly PropertyKey[]): number
}

/**
 * The value of a YAML 1.2 document, integers beyond a number as bigints; loads the yaml library. Throws a UsageError
 * that names the line, and on what is too long, nests too deeply or expands by its aliases.
 */
export async function parseYaml(text: string, name: string): Promise<unknown> {
  return (await parsePlacedYaml(text, name, maximumLength)).value
}

/** The same with the lines, for texts of up to so many characters. */
export async function parsePlacedYaml(text: string, name: string, longest: number): Promise<PlacedValue> {
  if (text.length > longest) {
    throw new UsageError(`${name} is larger than ${longest / 1024 / 1024} MiB, too large for YAML`, {
      hint: 'Convert it to JSON',
    })
  }
  const { isMap, isAlias, isNode, isScalar, isSeq, LineCounter, parseDocument } = await import('yaml')
  const lineCounter = new LineCounter()
  const intAsBigInt = /\d{16}/.test(text)
  const document = parseDocument(text, { lineCounter, prettyErrors: false, intAsBigInt })
  const [fault] = document.errors
  if (fault && isOverflow(fault)) throw tooDeep(name, fault)
  if (fault) {
    const { line, col } = lineCounter.linePos(fault.pos[0])
    throw new UsageError(`${name}:${line}:${col}: not YAML: ${fault.message}`, { cause: fault })
  }
  try {
    const value: unknown = document.toJS()
    if (isDeeper(value, deepest)) throw tooDeep(name)
    return { value: intAsBigInt ? plainIntegers(value) : value, lineOf }
  } catch (error) {
    if (error instanceof RangeError) throw tooDeep(name, error)
    if (!(error instanceof ReferenceError)) throw error
    const reason = /^Excessive alias/.test(error.message) ? 'its aliases expand too far' : error.message
    throw new UsageError(`Cannot read ${name}: ${reason}`, { cause: error })
  }

  function lineOf(path: readonly PropertyKey[]): number {
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
    return lineCounter.linePos(at ?? 0).line
  }
}

/** The reader finds out by itself that it has called itself too often, and calls that an error of the text. */
function isOverflow({ message }: Error): boolean {
  return /call stack/.test(message)
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((member) => isDeeper(member, levels - 1))
}

function tooDeep(name: string, cause?: Error): UsageError {
  return new UsageError(`Cannot read ${name}: it is nested more than ${deepest} levels deep`, { cause })
}

/** The same value with the integers as numbers that these hold exactly. */
function plainIntegers(value: unknown): unknown {
  if (typeof value === 'bigint') {
    const number = Number(value)
    return Number.isSafeInteger(number) ? number : value
  }
  if (Array.isArray(value)) return value.map(plainIntegers)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plainIntegers(member)]))
}
