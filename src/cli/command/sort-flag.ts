import type { FieldFlag } from './flag.ts'

/** Returns the sort flag of a list: one of its fields, `-` before it for descending (default `standard`). */
export function sortFlag(fields: readonly string[], standard: string): FieldFlag<'text'> {
  const list = `${fields.slice(0, -1).join(', ')} or ${fields.at(-1)}`
  return {
    placeholder: 'field',
    summary: `Sort by ${list}; prefix with - for descending`,
    choices: fields.flatMap((field) => [field, `-${field}`]),
    choicesTold: true,
    default: standard,
  }
}
