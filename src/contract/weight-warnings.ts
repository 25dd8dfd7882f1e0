import { wholeCourse } from './constants.ts'
import type { Course, CourseUpdate } from './courses.ts'

type Warnings = NonNullable<CourseUpdate['warnings']>
type Weights = Course['assessmentCriteria']['weights']

/** Of more grades, the numbers are minimums. */
export const maxWeighedGrades = 20_000
/** Those of most learners come first. */
const maxItems = 50

export interface WeighedGrade {
  readonly userId: string
  readonly itemId: string
  readonly label: string
  readonly weight: number | null
  /** True for a grade that the learner sees and that has a score. */
  readonly counts: boolean
}

/** Criteria name an item by id or name; null for none. */
export function weightIn(named: Weights, item: string, label: string): number | null {
  return named.find(({ name }) => name === item || name === label)?.weight ?? null
}

/**
 * Returns warnings about weights that name no item, and about graded items that do not count because others have a weight.
 * A course without grades has none: its weights are set before its items exist.
 *
 * @param otherNames names of items of which not all grades are given
 */
export function weightWarnings(
  weights: Weights,
  grades: readonly WeighedGrade[],
  otherNames: readonly string[] | null = null,
): Warnings {
  const items = grades.filter(({ itemId }) => itemId !== wholeCourse)
  if (weights.length === 0 || items.length === 0) return []
  const names = new Set(items.flatMap(({ itemId, label }) => [itemId, label]))
  for (const name of otherNames ?? []) names.add(name)
  const unknown = new Set(weights.map(({ name }) => name).filter((name) => !names.has(name)))
  const learners = new Set(items.map(({ userId }) => userId)).size
  const learnersText = (count: number) =>
    `${otherNames ? 'at least ' : ''}${count === 1 ? '1 learner' : `${count} learners`}`
  return [
    ...[...unknown].map((name) => ({
      code: 'no_item' as const,
      detail: `No item is named ${name}: its weight has no effect on the grades of ${learnersText(learners)}.`,
    })),
    ...[...learnersByUnweighted(grades, weights)]
      .sort(([, one], [, other]) => other - one)
      .slice(0, maxItems)
      .map(([item, count]) => ({
        code: 'unweighted' as const,
        detail: `Item ${item} has no weight, while others have one: it does not count for ${learnersText(count)}.`,
      })),
  ]
}

/** Counts those whose grade of an item is ignored, because it has no weight and others have one. */
function learnersByUnweighted(
  grades: readonly WeighedGrade[],
  weights: Weights,
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  const counting = grades.filter((grade) => grade.counts)
  for (const own of Map.groupBy(counting, ({ userId }) => userId).values()) {
    if (own.some(({ itemId }) => itemId === wholeCourse)) continue
    const weighted = own.map(({ itemId, label, weight }) => ({
      itemId,
      weight: weight ?? weightIn(weights, itemId, label),
    }))
    if (!weighted.some(({ weight }) => (weight ?? 0) > 0)) continue
    const without = new Set(weighted.flatMap(({ itemId, weight }) => (weight === null ? [itemId] : [])))
    for (const item of without) counts.set(item, (counts.get(item) ?? 0) + 1)
  }
  return counts
}
