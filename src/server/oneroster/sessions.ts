import sql, { type Sql } from 'sql-template-tag'
import { joinIds, type MappedTerm, noTerm, sessionOf, splitIds } from '../../lms/oneroster-mapping.ts'
import type { Database, Row } from '../database/database.ts'
import {
  type Asking,
  active,
  baseFields,
  beginningOfTime,
  type Collection,
  idNamed,
  partOf,
  refTo,
  since,
} from './collection.ts'

interface TermRow extends Row {
  readonly key: string
  readonly name: string
  readonly start_date: string
  readonly end_date: string
  readonly updated_at: string
}

const sessionFields = [
  ...baseFields,
  'title',
  'startDate',
  'endDate',
  'type',
  'parent',
  'children',
  'schoolYear',
]

const termOrders: Readonly<Record<string, Sql>> = {
  dateLastModified: sql`t.updated_at`,
  title: sql`t.name_key`,
  startDate: sql`t.start_date`,
}

type SessionKind = 'term' | 'gradingPeriod'

/** Each term is a grading period, too, under an id of its own. */
function sessionsOf(
  kind: SessionKind,
  show: (asking: Asking, term: MappedTerm | null, time: string) => object,
): Collection {
  return {
    plural: 'academicSessions',
    singular: 'academicSession',
    fields: sessionFields,
    async parts(asking, scope, narrowing, sort) {
      const key = sort === undefined ? undefined : termOrders[sort]
      if (sort !== undefined && !key) return null
      const only =
        scope.termId ?? (await idOfSession(asking.database, narrowing.values.get('sourcedId'), kind))
      const modified = sql`t.updated_at`
      const terms = partOf<TermRow>(
        {
          columns: sql`coalesce(t.external_id, t.id) as key, t.name, t.start_date, t.end_date, t.updated_at`,
          from: sql`terms t`,
          where: [since(narrowing, sort, modified), only !== undefined && sql`t.id = ${only}`],
          by: key ? [key, sql`t.id`] : [sql`t.id`],
        },
        ({ key: id, name, start_date: start, end_date: end, updated_at: time }) =>
          show(asking, { key: id, name, startDate: start || null, endDate: end || null }, time),
      )
      const hasNone =
        only === undefined && scope.termId === undefined && (await hasCoursesWithoutTerm(asking.database))
      const isNone = scope.termId === null || hasNone
      const none = isNone ? [{ records: [show(asking, null, beginningOfTime)] }] : []
      return scope.termId === null ? none : [terms, ...none]
    },
  }
}

/** The terms, and a session of the courses without one. */
export const terms = sessionsOf('term', (_, term, time) => {
  const { sourcedId, title, startDate, endDate, schoolYear } = sessionOf(term)
  return { ...active(sourcedId, time), title, type: 'term', startDate, endDate, schoolYear }
})

const periodSuffix = 'gradingPeriod'

/** Each term is one. Packages leave them out. */
export const gradingPeriods = sessionsOf('gradingPeriod', (asking, term, time) => {
  const { sourcedId, title, startDate, endDate, schoolYear } = sessionOf(term)
  return {
    ...active(joinIds(sourcedId, periodSuffix), time),
    ...{ title, type: 'gradingPeriod', startDate, endDate, schoolYear },
    parent: refTo(asking, 'academicSession', sourcedId),
  }
})

async function hasCoursesWithoutTerm(database: Database): Promise<boolean> {
  return (await database.one(sql`select 1 from courses where term_id is null limit 1`)) !== undefined
}

/** An empty text if there is none, undefined if no id is given. */
async function idOfSession(
  database: Database,
  sourcedId: string | undefined,
  kind: SessionKind,
): Promise<string | undefined> {
  if (sourcedId === undefined) return undefined
  const [term = '', suffix] = kind === 'term' ? [sourcedId] : splitIds(sourcedId)
  if (kind === 'gradingPeriod' && suffix !== periodSuffix) return ''
  if (term === noTerm.id) return undefined
  return (await idNamed(database, 'terms', term)) ?? ''
}
