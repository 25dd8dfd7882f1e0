import sql from 'sql-template-tag'
import { wholeCourse } from '../../contract/constants.ts'
import type { Course, CourseUpdate } from '../../contract/courses.ts'
import type { Database, Row } from '../database/database.ts'
import { weightIn } from './course-grade.ts'
import { readItems } from './gradebook-report.ts'

type Warnings = NonNullable<CourseUpdate['warnings']>

/** Maximum grades to read, as this runs in the transaction of an update; of more, numbers are minimums. */
const maxGrades = 20_000
/** Maximum items to warn about, those of most learners first. */
const maxItems = 50

interface GradeRow extends Row {
  readonly user_id: string
  readonly item_id: string
  readonly label: string
  readonly weight: number | null
  /** 1 for a grade that counts. */
  readonly counts: number
}

/**
 * Returns warnings about weights that name no item, and about graded items that do not count because others have a weight.
 * A course without grades has none: its weights are set before its items exist.
 */
export async function checkWeights(database: Database, course: Course): Promise<Warnings> {
  const { weights } = course.assessmentCriteria
  if (weights.length === 0) return []
  const rows = await database.all<GradeRow>(sql`
    select user_id, item_id, label, weight, case when published = 1 and cleared = 0 then 1 else 0 end as counts
    from grades where course_id = ${course.id} limit ${maxGrades + 1}`)
  const isCut = rows.length > maxGrades
  const items = rows.filter(({ item_id: item }) => item !== wholeCourse)
  if (items.length === 0) return []
  const names = new Set(items.flatMap(({ item_id: item, label }) => [item, label]))
  if (isCut) {
    const all = await readItems(database, course.id, true)
    for (const { itemId, label } of all.items) names.add(itemId).add(label)
  }
  const unknown = new Set(weights.map(({ name }) => name).filter((name) => !names.has(name)))
  const learners = new Set(items.map(({ user_id: userId }) => userId)).size
  const learnersText = (count: number) =>
    `${isCut ? 'at least ' : ''}${count === 1 ? '1 learner' : `${count} learners`}`
  return [
    ...[...unknown].map((name) => ({
      code: 'no_item' as const,
      detail: `No item is named ${name}: its weight has no effect on the grades of ${learnersText(learners)}.`,
    })),
    ...[...learnersByUnweighted(rows, weights)]
      .sort(([, one], [, other]) => other - one)
      .slice(0, maxItems)
      .map(([item, count]) => ({
        code: 'unweighted' as const,
        detail: `Item ${item} has no weight, while others have one: it does not count for ${learnersText(count)}.`,
      })),
  ]
}

/** Counts the learners for whom an item does not count, as it has no weight while others have one. */
function learnersByUnweighted(
  rows: readonly GradeRow[],
  weights: Course['assessmentCriteria']['weights'],
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  const counting = rows.filter((row) => row.counts === 1)
  for (const own of Map.groupBy(counting, ({ user_id: userId }) => userId).values()) {
    if (own.some(({ item_id: item }) => item === wholeCourse)) continue
    const weighted = own.map(({ item_id: item, label, weight }) => ({
      item,
      weight: weight ?? weightIn(weights, item, label),
    }))
    if (!weighted.some(({ weight }) => (weight ?? 0) > 0)) continue
    const without = new Set(weighted.flatMap(({ item, weight }) => (weight === null ? [item] : [])))
    for (const item of without) counts.set(item, (counts.get(item) ?? 0) + 1)
  }
  return counts
}
