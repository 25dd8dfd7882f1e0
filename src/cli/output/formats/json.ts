import { jsonText } from '../../../codec/json-text.ts'
import type { Format } from './format.ts'

/** Writes one indented JSON document: a value, or an array that grows page by page. */
export const json: Format = {
  one: (value) => `${text(value, 2)}\n`,
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

/** Writes one JSON value per line. */
export const jsonLines: Format = {
  one: (value) => `${text(value)}\n`,
  list: () => ({ rows: (values) => values.map((value) => `${text(value)}\n`).join(''), end: () => '' }),
}

/**
 * Formats JSON and escapes DEL and the C1 controls, which JSON leaves as they are and some terminals act on.
 */
function text(value: unknown, indent?: number): string {
  return jsonText(value, indent).replace(
    /[\u007f-\u009f]/g,
    (control) => `\\u00${control.charCodeAt(0).toString(16)}`,
  )
}
