import { type Grade, wholeCourse } from '../../contract/grades.ts'
import { shown } from './value-text.tsx'

/** So many graded items stand beside each other. */
export const itemsAtOnce = 8

/** What was graded, under the name that a column of grades has. */
export interface GradedItem {
  readonly key: string
  readonly name: string
}

const names = new Intl.Collator('en', { numeric: true })

/** The items of these grades, by their names, the course as a whole at the end; two that are called alike say whose they are. */
export function itemsOf(grades: readonly Grade[]): GradedItem[] {
  const latest = new Map<string, Grade>()
  for (const grade of grades) {
    const known = latest.get(keyOf(grade))
    if (!known || known.gradedAt < grade.gradedAt) latest.set(keyOf(grade), grade)
  }
  const items = [...latest].map(([key, grade]) => ({ key, grade, name: itemName(grade) }))
  const isTwice = (name: string) => items.filter((other) => other.name === name).length > 1
  return items
    .map(({ key, grade, name }) => ({
      key,
      place: grade.itemId === wholeCourse ? 1 : 0,
      name: isTwice(name) ? `${name} (${shown(`${grade.source}, ${grade.itemId}`, 40)})` : name,
    }))
    .sort((one, other) => one.place - other.place || names.compare(one.name, other.name))
}

/** What tells the item of a grade from others of its course. */
export function keyOf({ source, itemId }: Grade): string {
  return JSON.stringify([source, itemId])
}

/** What an item is called. */
export function itemName({ label, itemId }: Pick<Grade, 'label' | 'itemId'>): string {
  return shown(label || (itemId === wholeCourse ? 'Whole course' : itemId), 48)
}
