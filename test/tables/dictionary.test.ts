import { expect, test } from 'vitest'
import * as z from 'zod'
import { field, shown } from '../../src/contract/fields.ts'
import { operations } from '../../src/contract/index.ts'
import { learnerFields } from '../../src/contract/learner-row.ts'
import { describeColumns } from '../../src/tables/describe-columns.ts'
import { datasetTables, tables } from '../../src/tables/dictionary.ts'
import { findPrivacy, privacyByField } from '../../src/tables/privacy.ts'

function columnsOf(name: string) {
  return tables.find((table) => table.name === name)?.columns ?? []
}

test('the dictionary has a table for each list of the API, with at least one column', () => {
  const named = new Set(tables.map(({ operation }) => operation))
  const others = ['analytics.statements', 'analytics.rows', 'analytics.changes']
  const lists = operations.filter(({ id, list }) => list && !others.includes(id))
  expect(lists.map(({ id }) => id).filter((id) => !named.has(id))).toEqual([])
  expect(tables.filter(({ columns }) => columns.length === 0)).toEqual([])
  expect(new Set(tables.map(({ name }) => name)).size).toBe(tables.length)
})

test('the columns of learners are those of the contract, in its order, with their types', () => {
  const columns = columnsOf('learners')
  expect(columns.map(({ name }) => name)).toEqual(Object.keys(learnerFields))
  const found = Object.fromEntries(columns.map(({ name, type }) => [name, type]))
  expect(found).toMatchObject({
    learnerId: 'string',
    externalId: 'string',
    enrolledAt: 'timestamp',
    completionPercentage: 'percent',
    gradePercent: 'percent',
    passed: 'boolean',
  })
})

test('a description is split into the meaning of values and of null', () => {
  const columns = Object.fromEntries(columnsOf('learners').map((column) => [column.name, column]))
  expect(columns['completedAt']).toMatchObject({
    meaning: 'When the learner first reached the completion threshold',
    nullMeans: 'before that',
    unit: 'UTC',
  })
  expect(columns['gradePercent']).toMatchObject({ nullMeans: 'without a grade', unit: 'percent' })
  expect(columns['email']).toMatchObject({ meaning: 'E-mail address of the learner', nullMeans: null })
  expect(columns['firstName']?.nullMeans).toBe('not set')
  const due = columnsOf('lessons').find(({ name }) => name === 'dueAt')
  expect(due).toMatchObject({ meaning: 'When the lesson is due. Calendars show it', nullMeans: 'for never' })
})

test('days, whole numbers, durations and nested values have their own type or unit', () => {
  const term = columnsOf('terms').find(({ name }) => name === 'startDate')
  expect(term?.type).toBe('date')
  const course = Object.fromEntries(columnsOf('courses').map((column) => [column.name, column]))
  expect(course['durationMinutes']).toMatchObject({ type: 'integer', unit: 'minutes' })
  expect(course['passingScore']).toMatchObject({ path: 'assessmentCriteria.passingScore', type: 'percent' })
  expect(course['tags']).toMatchObject({ type: 'string', unit: 'JSON' })
})

test('what names a person has a privacy class', () => {
  const classes = Object.fromEntries(columnsOf('learners').map(({ name, privacy }) => [name, privacy]))
  expect(classes).toMatchObject({
    learnerId: 'id',
    email: 'address',
    lastName: 'name',
    externalId: 'id',
    courseTitle: 'none',
    lastAccessed: 'time',
    gradePercent: 'none',
  })
  const user = Object.fromEntries(columnsOf('users').map(({ name, privacy }) => [name, privacy]))
  expect(user).toMatchObject({ bio: 'text', avatarUrl: 'address', username: 'id', push: 'none' })
})

test('each field of text has a privacy class', () => {
  const unclassified = [...tables, ...datasetTables].flatMap(({ name, columns }) =>
    columns.flatMap(({ path, privacy }) =>
      privacy === 'text' && findPrivacy(name, path) === undefined ? [`${name}.${path}`] : [],
    ),
  )
  expect(unclassified, 'add them to src/tables/privacy.ts').toEqual([])
})

test('a text field without a privacy class counts as free text', () => {
  const record = shown(() => ({ nickname: field(z.string(), 'Name among friends') }))
  expect(describeColumns('users', record)).toMatchObject([{ name: 'nickname', privacy: 'text' }])
})

test('each entry of the privacy classes about a table names one of its fields', () => {
  const named = new Set(tables.flatMap(({ name, columns }) => columns.map(({ path }) => `${name}.${path}`)))
  const entries = Object.keys(privacyByField).filter((entry) => entry.includes('.'))
  expect(entries.filter((entry) => !named.has(entry))).toEqual([])
})
