import { pluralise } from '../terminal/format-text.ts'

export interface WriteNotes {
  add(sentence: string): void
  /** The first warnings, and the number of the others. */
  sentences(): readonly string[]
}

const maxAdded = 20

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
