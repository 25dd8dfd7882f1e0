import { UsageError } from '../terminal/errors.ts'
import { pluralise } from '../terminal/format-text.ts'
import { type Place, placeText } from './entry.ts'

const maximumTold = 1000

/** Collects problems of files, so that all are reported at once. */
export interface Problems {
  add(place: Place, message: string): void
  /** Throws a UsageError with every problem and its line, if there are any. */
  throwIfAny(): void
}

/** Creates an empty collection, which reports the first thousand problems. */
export function createProblems(): Problems {
  const told: { place: Place; message: string }[] = []
  let count = 0
  return {
    add(place, message) {
      count += 1
      if (told.length < maximumTold) told.push({ place, message })
    },
    throwIfAny() {
      if (count === 0) return
      const files = new Set(told.map(({ place }) => place.file))
      const [file] = files
      throw new UsageError(
        `${pluralise(count, 'problem')} found in ${files.size === 1 ? file : pluralise(files.size, 'file')}`,
        {
          code: 'invalid_document',
          why: [
            ...told.map(({ place, message }) => `${placeText(place)}: ${message}`),
            ...(count > told.length ? [`and ${count - told.length} more`] : []),
          ],
        },
      )
    },
  }
}
