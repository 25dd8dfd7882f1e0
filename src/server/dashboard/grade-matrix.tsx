import type { LearnerRow } from '../../contract/analytics.ts'
import type { Grade } from '../../contract/grades.ts'
import { itemsAtOnce, itemsOf, keyOf } from './grade-items.ts'
import { type LearnerQuery, searchOf } from './learner-query.ts'
import { gradeOf, LearnerName, sortingOf } from './learner-table.tsx'
import { Score } from './score.tsx'
import { Table } from './table.tsx'
import { counted } from './value-text.tsx'

/** Learners of a course and their grades, an item a column: some items at once, and the ways to the others. */
export function GradeMatrix({
  base,
  here,
  query,
  at,
  rows,
  grades,
}: {
  base: string
  /** The address of this page. */
  here: string
  query: LearnerQuery
  /** Which items are shown: 1 for the first ones. */
  at: number
  rows: readonly LearnerRow[]
  grades: readonly Grade[]
}) {
  const items = itemsOf(grades)
  const last = Math.max(1, Math.ceil(items.length / itemsAtOnce))
  const from = (Math.min(at, last) - 1) * itemsAtOnce
  const columns = items.slice(from, from + itemsAtOnce)
  const ofLearner = Map.groupBy(grades, ({ learnerId }) => learnerId)
  const hrefOf = (page: number) => `${here}${itemSearch(query, page)}#learners`
  return (
    <>
      {last === 1 ? null : (
        <nav class="pages items" aria-label="Items">
          <span>{`Items ${counted(from + 1)}–${counted(from + columns.length)} of ${counted(items.length)}`}</span>
          {from > 0 ? <a href={hrefOf(Math.min(at, last) - 1)}>Previous items</a> : null}
          {from + itemsAtOnce < items.length ? <a href={hrefOf(Math.min(at, last) + 1)}>Next items</a> : null}
        </nav>
      )}
      <Table
        caption="Learners of this course and their grades"
        columns={[
          { name: 'Learner', sorting: sortingOf(here, query, 'name') },
          ...columns.map(({ name }) => ({ name, look: 'score' as const })),
          { name: 'Course grade', look: 'figures', sorting: sortingOf(here, query, 'grade') },
        ]}
        rows={rows.map((row) => {
          const given = new Map(ofLearner.get(row.learnerId)?.map((grade) => [keyOf(grade), grade]))
          return [
            <LearnerName base={base} row={row} page="/grades" />,
            ...columns.map(({ key }) => <Score grade={given.get(key)} base={base} />),
            gradeOf(row),
          ]
        })}
      />
    </>
  )
}

/** The search part of an address that asks for these learners and items. */
export function itemSearch(query: Partial<LearnerQuery>, at: number): string {
  const search = searchOf(query)
  if (at === 1) return search
  return `${search}${search === '' ? '?' : '&'}items=${at}`
}
