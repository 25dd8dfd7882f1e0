import type { Format } from './format.ts'

// What YAML 1.2 does not print (§5.1), and what readers of YAML 1.1 take for the end of a line.
const unprintable = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g

/**
 * One YAML 1.2 document: a value, or a sequence that grows page by page; loads the yaml library. What YAML 1.1 reads
 * differently, such as `yes`, is quoted: many readers are of that version.
 */
export async function loadYaml(): Promise<Format> {
  const { Document, visit } = await import('yaml')
  const text = (value: unknown) => {
    const document = new Document(value, { aliasDuplicateObjects: false, compat: 'yaml-1.1' })
    visit(document, {
      Scalar(_, node) {
        // Escapes exist between double quotes alone; nothing else keeps the ends of lines either.
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
    // As a block, lines of nothing but spaces are read as empty ones.
    /^ *\n[ \n]*$/.test(text) ||
    // Where lines are kept as they are, a tab is, too.
    (text.includes('\t') && !/^\S.*\n/.test(text)) ||
    !text.isWellFormed()
  )
}

function escaped(character: string): string {
  const code = character.charCodeAt(0)
  return code < 0x100 ? `\\x${code.toString(16)}` : `\\u${code.toString(16)}`
}
