import { GradeInput, grades } from '../../contract/grades.ts'
import { filtersOf, flagsOf } from './derive-flags.ts'

const { learnerId: _, ...flags } = flagsOf(
  GradeInput,
  {
    scoreGiven: { name: 'score', none: true },
    scoreMaximum: {
      name: 'maximum',
      default: 'unchanged, else that of the item for other learners, else 100',
    },
    itemId: { name: 'item', asked: true },
    label: { default: 'unchanged, else that of the item for other learners' },
    weight: {
      default: 'unchanged, else from the assessment criteria, else that of the item for other learners',
    },
    source: { default: 'that of the stored grade of this item, else manual' },
    published: { default: 'unchanged, else on' },
  },
  ['courseId', 'scoreGiven', 'scoreMaximum', 'itemId', 'label', 'weight', 'source', 'published'],
  ['gradedAt'],
)

/** The learner is an argument. */
export const fields = flags

export const filters = filtersOf(grades.list, {
  item_id: { name: 'item', summary: 'Filter by item' },
})

export const historyFilters = filtersOf(grades.history)

export const reportFilters = filtersOf(grades.report, {
  include_unpublished: { name: 'unpublished', summary: 'Include grades that learners do not see yet' },
})
