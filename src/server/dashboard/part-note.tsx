import { mostSorted } from '../analytics/course-learners.ts'
import { counted } from './value-text.tsx'

/** Tells that a list holds a part of the learners of a very large course. */
export function PartNote() {
  return (
    <p class="note">
      Of the learners, the {counted(mostSorted)} who enrolled last are listed. Search for others, or download
      all.
    </p>
  )
}
