import { pluralise } from '../../terminal/format-text.ts'

const maxValues = 5

/** Counts what a source reads although its specification forbids it, and what it leaves out. */
export interface Leniencies {
  /** Adds an occurrence; different values of one kind are named in its note. */
  add(what: string, value?: string): void
  /** Returns a note for each kind: `users.csv: role is not spelled as specified (3 times: Student, TEACHER)`. */
  notes(): readonly string[]
}

export function createLeniencies(name: string): Leniencies {
  const kinds = new Map<string, { count: number; readonly values: Set<string> }>()
  return {
    add(what, value) {
      const kind = kinds.get(what) ?? { count: 0, values: new Set() }
      kind.count += 1
      if (value !== undefined && kind.values.size <= maxValues) kind.values.add(value)
      kinds.set(what, kind)
    },
    notes: () =>
      [...kinds].map(([what, { count, values }]) => {
        const shown = [...values].slice(0, maxValues).join(', ') + (values.size > maxValues ? ', …' : '')
        const times = count === 1 ? '' : pluralise(count, 'time')
        const rest = [times, shown].filter((text) => text !== '').join(': ')
        return `${name}: ${what}${rest === '' ? '' : ` (${rest})`}`
      }),
  }
}
