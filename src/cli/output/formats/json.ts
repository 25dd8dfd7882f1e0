import { jsonText } from '../../../codec/json-text.ts'
import type { Format } from './format.ts'

/** One JSON document, indented: a value, or an array that grows page by page. */
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
            // Every line feed is one of the layout: those of texts are escaped.
            return `${before}  ${text(value, 2).replaceAll('\n', '\n  ')}`
          })
          .join(''),
      end: () => (empty ? '[]\n' : '\n]\n'),
    }
  },
}

/** One JSON value a line. */
export const jsonLines: Format = {
  one: (value) => `${text(value)}\n`,
  list: () => ({ rows: (values) => values.map((value) => `${text(value)}\n`).join(''), end: () => '' }),
}

/** JSON leaves DEL and the C1 controls as they are, and some terminals obey them; escaped they are the same value. */
function text(value: unknown, indent?: number): string {
  return jsonText(value, indent).replace(
    /[\u007f-\u009f]/g,
    (control) => `\\u00${control.charCodeAt(0).toString(16)}`,
  )
}
