import { itemsOf, noCategory, resultIdOf, scoreOn, sessionOf } from '../../lms/oneroster-mapping.ts'
import { type OneRosterVersion, oneRosterColumns } from './oneroster-tables.ts'
import type { Package, Table } from './package-writer.ts'
import { type Course, compare, type Grade } from './school.ts'
import { type Cells, cellColumns, type Losses } from './write-tables.ts'

interface GradebookForm {
  readonly version: OneRosterVersion
  readonly org: { readonly id: string }
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

/** Writes grades as line items with their results; the weights of courses are categories. */
export class Gradebook {
  readonly #to: Package
  readonly #form: GradebookForm
  readonly #losses: GradebookLosses
  #tables: Readonly<Record<'categories' | 'lineItems' | 'results', Table<Cells>>> | null = null

  constructor(to: Package, form: GradebookForm, losses: GradebookLosses) {
    this.#to = to
    this.#form = form
    this.#losses = losses
  }

  /** Number of results. */
  get rows(): number {
    return this.#tables?.results.rows ?? 0
  }

  /** Items that have weights but no grades become line items, too. */
  add({ key, term, assessmentCriteria: { weights } }: Course, grades: readonly Grade[]): void {
    const { version, org } = this.#form
    const is12 = version === '1.2'
    const gradesByItem = Map.groupBy(this.#shown(grades), ({ itemId }) => itemId)
    const newest = [...gradesByItem].flatMap(([itemId, some]) =>
      newestBy(some, 'createdAt', 'userKey').map((grade) => [itemId, grade] as const),
    )
    const { items, lostWeights } = itemsOf(key, weights, new Map(newest))
    this.#losses.add('weights', lostWeights)
    if (!is12) {
      const weighted = items.flatMap(({ weight, title }) => (weight === null ? [] : [title]))
      this.#losses.add('unweighted', new Set(weighted).size)
    }
    const { sourcedId: session, startDate: assignDate, endDate: dueDate } = sessionOf(term)
    const categorised = new Set<string>([noCategory.id])
    for (const { sourcedId: id, itemId, title, max, categoryId, weight } of items) {
      const some = gradesByItem.get(itemId)
      // OneRoster 1.1 has no weights, so that an item without grades says nothing.
      if (!some && !is12) continue
      this.#tables ??= this.#openTables()
      const { categories, lineItems, results } = this.#tables
      const category = is12 ? categoryId : noCategory.id
      // Several items may have the title that a weight is for.
      if (!categorised.has(category)) categories.add({ sourcedId: category, title, weight: String(weight) })
      categorised.add(category)
      lineItems.add({
        sourcedId: id,
        title,
        assignDate,
        dueDate,
        classSourcedId: key,
        categorySourcedId: category,
        // The name of the session in 1.1, and in 1.2.
        gradingPeriodSourcedId: session,
        academicSessionSourcedId: session,
        resultValueMin: '0',
        resultValueMax: String(max),
        schoolSourcedId: org.id,
      })
      for (const grade of some ?? []) {
        results.add({
          sourcedId: resultIdOf(key, itemId, grade.userKey),
          lineItemSourcedId: id,
          studentSourcedId: grade.userKey,
          scoreStatus: 'fully graded',
          classSourcedId: key,
          score: String(this.#scoreOf(grade, max)),
          scoreDate: grade.gradedAt.slice(0, 10),
          inProgress: 'false',
          incomplete: 'false',
          late: 'false',
          missing: 'false',
        })
      }
    }
  }

  /** The tables appear only if there is a line item. */
  #openTables() {
    const open = (name: 'categories' | 'lineItems' | 'results') =>
      this.#to.table(`${name}.csv`, cellColumns(oneRosterColumns(name, this.#form.version)))
    const categories = open('categories')
    const tables = { categories, lineItems: open('lineItems'), results: open('results') }
    categories.add({ sourcedId: noCategory.id, title: noCategory.title })
    return tables
  }

  /** Returns the published grades, of each learner and item the one that was given last, or of the first source. */
  #shown(grades: readonly Grade[]): readonly Grade[] {
    const shown = grades.filter(({ published, scoreGiven }) => published && scoreGiven !== null)
    const unpublished = grades.filter(({ published }) => !published).length
    this.#losses.add('unpublished', unpublished)
    this.#losses.add('cleared', grades.length - shown.length - unpublished)
    const byPlace = Map.groupBy(shown, ({ itemId, userKey }) => JSON.stringify([itemId, userKey]))
    this.#losses.add('sources', shown.length - byPlace.size)
    return [...byPlace.values()].flatMap((some) => newestBy(some, 'gradedAt', 'source'))
  }

  #scoreOf({ scoreGiven, scoreMaximum }: Grade, max: number): number {
    if (scoreMaximum !== max) this.#losses.add('scaled')
    return scoreOn(max, scoreGiven ?? 0, scoreMaximum)
  }
}

/** Returns the grade with the last time, of several the first by the other field; none of none. */
function newestBy(
  grades: readonly Grade[],
  time: 'createdAt' | 'gradedAt',
  other: 'userKey' | 'source',
): Grade[] {
  return grades
    .toSorted((one, two) => compare(two[time], one[time]) || compare(one[other], two[other]))
    .slice(0, 1)
}
