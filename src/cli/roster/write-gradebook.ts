import { wholeCourse } from '../../contract/constants.ts'
import { pluralise } from '../terminal/format-text.ts'
import { itemIn, joinIds, noCategory, wholeCourseTitle } from './conventions.ts'
import { type OneRosterVersion, oneRosterColumns } from './oneroster-tables.ts'
import type { Package } from './package-folder.ts'
import { type Course, compare, type Grade } from './school-records.ts'

/** Writes grades as line items with their results; the weights of courses are categories. */
export interface Gradebook {
  /** Adds the grades in a course. Items that have weights but no grades become line items, too. */
  add(
    course: Course,
    days: readonly [startDate: string, endDate: string],
    grades: readonly Grade[],
  ): Promise<void>
  /** Writes all tables; returns the number of results. */
  finish(): Promise<number>
  notes(): readonly string[]
}

/** Form of the tables. */
interface GradebookForm {
  readonly version: OneRosterVersion
  readonly org: { readonly id: string }
}

/** Line item of a course, with its results. */
interface Item {
  readonly course: string
  readonly session: string
  readonly days: readonly [startDate: string, endDate: string]
  readonly itemId: string
  readonly title: string
  readonly max: number
  /** Null for an item without a weight of the course. */
  readonly weight: number | null
  readonly results: readonly (readonly [userKey: string, score: number, day: string])[]
}

/** Starts a gradebook. Its tables appear only if there is a line item. */
export function createGradebook(
  to: Package,
  form: GradebookForm,
  sessionOf: (course: Course) => string,
): Gradebook {
  return new TwoPassGradebook(to, form, sessionOf)
}

/**
 * Ids of line items are unique in a package, items only in their course: an item that several courses have gets the
 * course in its id. So all items have to be known before the first is written.
 */
class TwoPassGradebook implements Gradebook {
  readonly #to: Package
  readonly #form: GradebookForm
  readonly #sessionOf: (course: Course) => string
  readonly #seen = new Set<string>()
  /** Items that more than one course has. */
  readonly #shared = new Set<string>()
  readonly #left = { unpublished: 0, cleared: 0, sources: 0, weights: 0, unweighted: 0, scaled: 0 }
  #items: Awaited<ReturnType<Package['scratch']>> | null = null

  constructor(to: Package, form: GradebookForm, sessionOf: (course: Course) => string) {
    this.#to = to
    this.#form = form
    this.#sessionOf = sessionOf
  }

  async add(course: Course, days: Item['days'], grades: readonly Grade[]): Promise<void> {
    const gradesByItem = Map.groupBy(this.#shown(grades), ({ itemId }) => itemId)
    const titles = new Map([...gradesByItem].map(([itemId, some]) => [itemId, titleOf(itemId, some)]))
    const known = new Set([...titles].flat())
    const ungraded = course.weights.map(({ name }) => name).filter((name) => !known.has(name))
    for (const name of ungraded) titles.set(name, name)
    const weightByTitle = this.#weightsOf(course, titles, gradesByItem)
    const isWeighted = this.#form.version !== '1.1'
    if (!isWeighted) {
      this.#left.unweighted += weightByTitle.size
      for (const name of ungraded) titles.delete(name)
    }
    for (const [itemId, title] of [...titles].sort(([one], [other]) => compare(one, other))) {
      if (this.#seen.has(itemId)) this.#shared.add(itemId)
      this.#seen.add(itemId)
      const some = gradesByItem.get(itemId) ?? []
      const max = newestOf(some)?.scoreMaximum ?? 100
      const weight = weightByTitle.get(title) ?? null
      const item: Item = {
        ...{
          course: course.key,
          session: this.#sessionOf(course),
          days,
          itemId,
          title,
          max,
          weight: isWeighted ? weight : null,
        },
        results: some.map((grade) => [grade.userKey, this.#scoreOf(grade, max), grade.gradedAt.slice(0, 10)]),
      }
      this.#items ??= await this.#to.scratch()
      await this.#items.add(item)
    }
  }

  /**
   * Returns the weights of items by their titles: those of the course, else those of their grades, unless they add up to
   * more than 100, which no course may have.
   */
  #weightsOf(
    { weights }: Course,
    titles: ReadonlyMap<string, string>,
    gradesByItem: ReadonlyMap<string, readonly Grade[]>,
  ): ReadonlyMap<string, number> {
    const ofCourse = new Map<string, number>()
    const own = new Map<string, number>()
    for (const [itemId, title] of titles) {
      const declared = weights.find(({ name }) => name === itemId || name === title)?.weight
      if (declared !== undefined) ofCourse.set(title, declared)
      const given = newestOf(gradesByItem.get(itemId) ?? [])?.weight ?? null
      if (given === null || given === declared) continue
      if (declared === undefined && !own.has(title)) own.set(title, given)
      else this.#left.weights += 1
    }
    const all = new Map([...own, ...ofCourse])
    const sum = [...all.values()].reduce((total, weight) => total + weight, 0)
    if (sum <= 100 + 1e-9) return all
    this.#left.weights += own.size
    return ofCourse
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
      const { course, session, days, itemId, title, max, weight, results: all } = read as Item
      // Readers take an id with the course in front for the item of the course.
      const isPlain = !this.#shared.has(itemId) && itemIn(itemId, course) === itemId
      const id = isPlain ? itemId : joinIds(course, itemId)
      const category = weight === null ? noCategory.id : joinIds(course, title)
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
          ...[joinIds(course, itemId, userKey), '', '', id, userKey, 'fully graded', String(score), day, ''],
          ...(is12 ? ['', course, 'false', 'false', 'false', 'false'] : []),
        ])
      }
    }
    return results.rows
  }

  notes(): readonly string[] {
    const { unpublished, cleared, sources, weights, unweighted, scaled } = this.#left
    return [
      ...(unpublished > 0 ? [`${pluralise(unpublished, 'unpublished grade')} left out`] : []),
      ...(cleared > 0 ? [`${pluralise(cleared, 'cleared grade')} left out`] : []),
      ...(sources > 0
        ? [
            `${pluralise(sources, 'grade')} of further sources left out: OneRoster has one score for each learner and item`,
          ]
        : []),
      ...(scaled > 0
        ? [
            `${pluralise(scaled, 'score')} converted to the maximum of the item: OneRoster has one for each item`,
          ]
        : []),
      ...(unweighted > 0
        ? [`The weights of ${pluralise(unweighted, 'item')} are not included: OneRoster 1.1 has none`]
        : []),
      ...(weights > 0
        ? [
            `The weights of ${pluralise(weights, 'item')} are not included: only those in the assessment criteria of the course are`,
          ]
        : []),
    ]
  }

  /** Returns the published grades, of each learner and item the newest. */
  #shown(grades: readonly Grade[]): Grade[] {
    const newest = new Map<string, Grade>()
    for (const grade of grades) {
      if (!grade.published) this.#left.unpublished += 1
      else if (grade.scoreGiven === null) this.#left.cleared += 1
      else {
        const key = JSON.stringify([grade.itemId, grade.userKey])
        const before = newest.get(key)
        if (before) this.#left.sources += 1
        newest.set(key, newestOf(before ? [before, grade] : [grade]) ?? grade)
      }
    }
    return [...newest.values()]
  }

  #scoreOf({ scoreGiven, scoreMaximum }: Grade, max: number): number {
    const score = scoreGiven ?? 0
    if (scoreMaximum === max) return score
    this.#left.scaled += 1
    return Math.round((score / scoreMaximum) * max * 10_000) / 10_000
  }
}

/** Returns the newest grade; of several the one of the first source and user. */
function newestOf(grades: readonly Grade[]): Grade | undefined {
  return grades.toSorted(
    (one, other) =>
      compare(other.gradedAt, one.gradedAt) ||
      compare(one.source, other.source) ||
      compare(one.userKey, other.userKey),
  )[0]
}

function titleOf(itemId: string, grades: readonly Grade[]): string {
  const label = newestOf(grades)?.label ?? ''
  return label || (itemId === wholeCourse ? wholeCourseTitle : itemId)
}
