import sql, { type Sql } from 'sql-template-tag'
import { csvRecord } from '../../codec/csv.ts'
import type { FileRows } from './learner-file.ts'

/** Columns of a file of grades: those that an import of grades reads, and the names of the learner and the item. */
const columns = [
  'learnerId',
  'email',
  'firstName',
  'lastName',
  'externalId',
  'courseId',
  'courseTitle',
  'itemId',
  'source',
  'label',
  'scoreGiven',
  'scoreMaximum',
  'percent',
  'weight',
  'gradedAt',
  'published',
] as const

/** The text columns; all others are ids, times or numbers. */
const freeText: readonly string[] = [
  'email',
  'firstName',
  'lastName',
  'externalId',
  'courseTitle',
  'itemId',
  'source',
  'label',
]
const plain = columns.map((name) => !freeText.includes(name))

/** Returns all grades of a course, oldest first, except cleared ones and those of deleted users. */
export function gradesOfCourse(courseId: string): FileRows {
  return { columns, statement: statementOf(courseId), csv: (raw) => (cells) => csvRecord(cells, raw, plain) }
}

// SQLite keeps the order of a cross join, so it scans the index of the course's grades.
function statementOf(courseId: string): Sql {
  return sql`
    select u.id, u.email, u.profile ->> 'firstName', u.profile ->> 'lastName', u.external_id, c.id, c.title,
      g.item_id, g.source, g.label, g.score_given, g.score_maximum, 100.0 * g.score_given / g.score_maximum, g.weight,
      g.graded_at, case when g.published = 1 then 'true' else 'false' end
    from courses c cross join grades g cross join users u
    where g.course_id = c.id and u.id = g.user_id and c.id = ${courseId} and g.course_id = ${courseId} and g.cleared = 0 and u.status <> 'deleted'
    order by g.created_at, g.id`
}
