import { pluralise } from '../terminal/format-text.ts'

/** Collects the warnings about written records. */
export interface WriteNotes {
  add(sentence: string): void
  /** Returns the first warnings, and the number of the others. */
  sentences(): readonly string[]
}

/** Maximum number of warnings to print. */
const maxAdded = 20

/** Creates notes without a warning. */
export function createWriteNotes(): WriteNotes {
  const added: string[] = []
  return {
    add: (sentence) => void added.push(sentence),
    sentences: () => [
      ...added.slice(0, maxAdded),
      ...(added.length > maxAdded ? [`${pluralise(added.length - maxAdded, 'more warning')}`] : []),
    ],
  }
}
