import type { Format } from './format.ts'

/** One YAML 1.2 document: a value, or a sequence that grows page by page; loads the yaml library. */
export async function loadYaml(): Promise<Format> {
  const { stringify } = await import('yaml')
  const text = (value: unknown) => stringify(value, { lineWidth: 0, aliasDuplicateObjects: false })
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
