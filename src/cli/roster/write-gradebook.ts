import { daysOf, itemsOf, resultIdOf, scoreOn, sessionOf } from '../../lms/oneroster-mapping.ts'
import { noCategory } from '../../lms/roster-conventions.ts'
import { type OneRosterVersion, oneRosterColumns } from './oneroster-tables.ts'
import type { PackageWriter } from './package-writer.ts'
import type { Losses } from './roster-tables.ts'
import { type Course, compare, type Grade } from './school-records.ts'

/** Writes grades as line items with their results; the weights of courses are categories. */
export interface Gradebook {
  /** Items that have weights but no grades become line items, too. */
  add(course: Course, grades: readonly Grade[]): Promise<void>
  /** Returns the number of results. */
  finish(): Promise<number>
}

interface GradebookForm {
  readonly version: OneRosterVersion
  readonly org: { readonly id: string }
}

interface Item {
  readonly id: string
  readonly course: string
  readonly session: string
  readonly days: readonly [startDate: string, endDate: string]
  readonly itemId: string
  readonly title: string
  readonly max: number
  readonly category: string
  /** Null for an item without a weight of the course. */
  readonly weight: number | null
  readonly results: readonly (readonly [userKey: string, score: number, day: string])[]
}

export const gradebookLossTexts = {
  unpublished: '{unpublished grade} left out',
  cleared: '{cleared grade} left out',
  sources: '{grade} of further sources left out: OneRoster has one score for each learner and item',
  scaled: '{score} converted to the maximum of the item: OneRoster has one for each item',
  unweighted: 'The weights of {item} are not included: OneRoster 1.1 has none',
  weights: 'The weights of {item} are not included: only those in the assessment criteria of the course are',
}
type GradebookLosses = Losses<keyof typeof gradebookLossTexts>

/** The tables appear only if there is a line item. */
export function createGradebook(to: PackageWriter, form: GradebookForm, losses: GradebookLosses): Gradebook {
  return new TwoPassGradebook(to, form, losses)
}

/** Writes the items of all courses at the end, table by table. */
class TwoPassGradebook implements Gradebook {
  readonly #to: PackageWriter
  readonly #form: GradebookForm
  readonly #losses: GradebookLosses
  #items: Awaited<ReturnType<PackageWriter['scratch']>> | null = null

  constructor(to: PackageWriter, form: GradebookForm, losses: GradebookLosses) {
    this.#to = to
    this.#form = form
    this.#losses = losses
  }

  async add(course: Course, grades: readonly Grade[]): Promise<void> {
    const gradesByItem = Map.groupBy(this.#shown(grades), ({ itemId }) => itemId)
    const newest = [...gradesByItem].flatMap(([itemId, some]) => {
      const grade = newestIn(some)
      return grade ? [[itemId, grade] as const] : []
    })
    const { items, lostWeights } = itemsOf(course.key, course.weights, new Map(newest))
    const isWeighted = this.#form.version !== '1.1'
    this.#losses.add('weights', lostWeights)
    if (!isWeighted) {
      const weighted = items.flatMap(({ weight, title }) => (weight === null ? [] : [title]))
      this.#losses.add('unweighted', new Set(weighted).size)
    }
    for (const { sourcedId: id, itemId, title, max, categoryId, weight } of items) {
      const some = gradesByItem.get(itemId)
      // OneRoster 1.1 has no weights, so that an item without grades says nothing.
      if (!some && !isWeighted) continue
      const item: Item = {
        ...{ id, course: course.key, session: sessionOf(course.term).sourcedId, days: daysOf(course.term) },
        ...{ itemId, title, max, weight: isWeighted ? weight : null },
        category: isWeighted ? categoryId : noCategory.id,
        results: (some ?? []).map((grade) => [
          grade.userKey,
          this.#scoreOf(grade, max),
          grade.gradedAt.slice(0, 10),
        ]),
      }
      this.#items ??= await this.#to.scratch()
      await this.#items.add(item)
    }
  }

  async finish(): Promise<number> {
    if (!this.#items) return 0
    const { version, org } = this.#form
    const is12 = version === '1.2'
    const table = (name: 'categories' | 'lineItems' | 'results') =>
      this.#to.table(`${name}.csv`, oneRosterColumns(name, version))
    const categories = await table('categories')
    const lineItems = await table('lineItems')
    const results = await table('results')
    await categories.add([noCategory.id, '', '', noCategory.title, ...(is12 ? [''] : [])])
    let categorised = new Set<string>()
    let courseBefore: string | null = null
    for await (const read of this.#items.read()) {
      // The scratch has items only.
      const { id, course, session, days, itemId, title, max, category, weight, results: all } = read as Item
      if (course !== courseBefore) categorised = new Set([noCategory.id])
      courseBefore = course
      // Several items may have the title that a weight is for.
      if (!categorised.has(category))
        await categories.add([category, '', '', title, ...(is12 ? [String(weight)] : [])])
      categorised.add(category)
      await lineItems.add([
        ...[id, '', '', title, '', ...days, course, category, session, '0', String(max)],
        ...(is12 ? [org.id] : []),
      ])
      for (const [userKey, score, day] of all) {
        await results.add([
          ...[
            resultIdOf(course, itemId, userKey),
            '',
            '',
            id,
            userKey,
            'fully graded',
            String(score),
            day,
            '',
          ],
          ...(is12 ? ['', course, 'false', 'false', 'false', 'false'] : []),
        ])
      }
    }
    return results.rows
  }

  /** Returns the published grades, of each learner and item the newest. */
  #shown(grades: readonly Grade[]): Grade[] {
    const newest = new Map<string, Grade>()
    for (const grade of grades) {
      if (!grade.published) this.#losses.add('unpublished')
      else if (grade.scoreGiven === null) this.#losses.add('cleared')
      else {
        const key = JSON.stringify([grade.itemId, grade.userKey])
        const before = newest.get(key)
        if (before) this.#losses.add('sources')
        newest.set(key, newestOf(before ? [before, grade] : [grade]) ?? grade)
      }
    }
    return [...newest.values()]
  }

  #scoreOf({ scoreGiven, scoreMaximum }: Grade, max: number): number {
    if (scoreMaximum !== max) this.#losses.add('scaled')
    return scoreOn(max, scoreGiven ?? 0, scoreMaximum)
  }
}

/** The grade that was made last. */
function newestIn(grades: readonly Grade[]): Grade | undefined {
  return grades.toSorted(
    (one, other) => compare(other.createdAt, one.createdAt) || compare(one.userKey, other.userKey),
  )[0]
}

/** Returns the grade that was given last; of several the one of the first source and user. */
function newestOf(grades: readonly Grade[]): Grade | undefined {
  return grades.toSorted(
    (one, other) =>
      compare(other.gradedAt, one.gradedAt) ||
      compare(one.source, other.source) ||
      compare(one.userKey, other.userKey),
  )[0]
}
