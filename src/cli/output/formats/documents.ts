import { jsonText } from '../../../codec/json-text.ts'
import type { Format } from './format.ts'

export const json: Format = {
  one: (value) => `${text(value, 2)}\n`,
  pieces: (value) => (Object.values(value).some(isLazy) ? piecesOf(value, 2) : undefined),
  list: () => {
    let empty = true
    return {
      rows: (values) =>
        values
          .map((value) => {
            const before = empty ? '[\n' : ',\n'
            empty = false
            // All line feeds are layout: JSON escapes those in strings.
            return `${before}  ${text(value, 2).replaceAll('\n', '\n  ')}`
          })
          .join(''),
      end: () => (empty ? '[]\n' : '\n]\n'),
    }
  },
}

export const jsonLines: Format = {
  one: (value) => `${text(value)}\n`,
  pieces: (value) => (Object.values(value).some(isLazy) ? piecesOf(value, 0) : undefined),
  list: () => ({ rows: (values) => values.map((value) => `${text(value)}\n`).join(''), end: () => '' }),
}

/** Formats each iterable member as an array. */
function* piecesOf(value: object, indent: number): Generator<string> {
  const line = (depth: number) => (indent === 0 ? '' : `\n${' '.repeat(indent * depth)}`)
  const at = (depth: number, member: unknown) => text(member, indent).replaceAll('\n', line(depth))
  let before = '{'
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue
    yield `${before}${line(1)}${text(name)}:${indent === 0 ? '' : ' '}`
    before = ','
    if (!isLazy(member)) {
      yield at(1, member)
      continue
    }
    let items = '['
    let isEmpty = true
    for (const item of member) {
      items += `${isEmpty ? '' : ','}${line(2)}${at(2, item)}`
      isEmpty = false
      if (items.length < pieceCharacters) continue
      yield items
      items = ''
    }
    yield `${items}${isEmpty ? '' : line(1)}]`
  }
  yield before === '{' ? '{}\n' : `${line(0)}}\n`
}

const pieceCharacters = 64 * 1024

function isLazy(value: unknown): value is Iterable<unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Symbol.iterator in value
}

/** Escapes DEL and the C1 controls, which JSON leaves as they are and some terminals act on. */
function text(value: unknown, indent?: number): string {
  return jsonText(value, indent).replace(
    /[\u007f-\u009f]/g,
    (control) => `\\u00${control.charCodeAt(0).toString(16)}`,
  )
}

// Characters that YAML 1.2 cannot print (§5.1), and those that YAML 1.1 reads as a line end.
const unprintable = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g

/**
 * Creates a format of one YAML 1.2 document: a value, or a sequence that grows page by page. Quotes what YAML
 * 1.1 reads differently, such as `yes`, because many readers use that version. Loads the yaml library.
 */
export async function loadYaml(): Promise<Format> {
  const { Document, visit } = await import('yaml')
  const text = (value: unknown) => {
    const document = new Document(value, { aliasDuplicateObjects: false, compat: 'yaml-1.1' })
    visit(document, {
      Scalar(_, node) {
        // Only double-quoted scalars have escapes and keep all line ends.
        if (typeof node.value === 'string' && needsQuotes(node.value)) node.type = 'QUOTE_DOUBLE'
      },
    })
    return document.toString({ lineWidth: 0 }).replace(unprintable, escaped)
  }
  return {
    one: text,
    list: () => {
      let empty = true
      return {
        rows: (values) => {
          if (values.length === 0) return ''
          empty = false
          return text(values)
        },
        end: () => (empty ? '[]\n' : ''),
      }
    },
  }
}

function needsQuotes(text: string): boolean {
  return (
    text.search(unprintable) >= 0 ||
    /[\u0000-\u0008\u000b-\u001f]|^(=|<<)$/.test(text) ||
    // In a block scalar, lines of spaces are read as empty ones.
    /^ *\n[ \n]*$/.test(text) ||
    // A block scalar would contain the tab unescaped.
    (text.includes('\t') && !/^\S.*\n/.test(text)) ||
    !text.isWellFormed()
  )
}

function escaped(character: string): string {
  const code = character.charCodeAt(0)
  return code < 0x100 ? `\\x${code.toString(16)}` : `\\u${code.toString(16)}`
}
