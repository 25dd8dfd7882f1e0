import sql, { type Sql } from 'sql-template-tag'
import type { Lesson } from '../../contract/lessons.ts'
import type { Database, Row } from '../database/database.ts'
import { resolve } from '../database/reference.ts'
import { notFound } from '../problem/problem-error.ts'
import type { StoredInput } from './lesson-content.ts'

/** A lesson as its row holds it; `content` is JSON of what no query asks for. */
export interface LessonRow extends Row {
  readonly id: string
  readonly external_id: string | null
  readonly course_id: string
  readonly course_title: string
  readonly module_id: string | null
  readonly title: string
  readonly description: string
  readonly position: number
  readonly duration_minutes: number | null
  readonly status: string
  readonly content: string
  readonly managed_by: string | null
  readonly version: number
  readonly created_at: string
  readonly updated_at: string
}

/** The columns of a lesson row, from `lessons l`. */
export const lessonColumns = sql`l.id, l.external_id, l.course_id,
  (select title from courses where id = l.course_id) as course_title, l.module_id, l.title, l.description, l.position,
  l.duration_minutes, l.status, l.content, l.managed_by, l.version, l.created_at, l.updated_at`

/** The stored lesson behind a reference; throws 404, also where it does not meet `seen`, a condition on `l` and its course `c`. */
export async function findLesson(
  database: Database,
  reference: string,
  seen: Sql | false = false,
): Promise<LessonRow> {
  const id = await resolve(database, 'lessons', reference)
  const row =
    id &&
    (await database.one<LessonRow>(
      sql`select ${lessonColumns} from lessons l join courses c on c.id = l.course_id where l.id = ${id} and ${seen || sql`true`}`,
    ))
  if (!row) throw notFound('lesson', reference)
  return row
}

/** What of a lesson has no column of its own; a field that is new to the contract is stored here by itself. */
type Content = Omit<
  Lesson,
  | 'id'
  | 'externalId'
  | 'courseId'
  | 'courseTitle'
  | 'moduleId'
  | 'title'
  | 'description'
  | 'order'
  | 'durationMinutes'
  | 'status'
  | 'managedBy'
  | 'version'
  | 'createdAt'
  | 'updatedAt'
>

/** The column `content`, as JSON text: all of a lesson's input that has no column of its own. */
export function contentOf(input: StoredInput): string {
  const { externalId, courseId, moduleId, title, description, order, ...rest } = input
  const { durationMinutes, status, managedBy, ...content } = rest
  return JSON.stringify(content satisfies Content)
}

/** A lesson with the answers of its questions, from its row. */
export function toLesson(row: LessonRow): Lesson {
  return {
    id: row.id,
    externalId: row.external_id,
    courseId: row.course_id,
    courseTitle: row.course_title,
    moduleId: row.module_id,
    title: row.title,
    description: row.description,
    order: row.position,
    durationMinutes: row.duration_minutes,
    status: row.status as Lesson['status'],
    // Written by `contentOf`.
    ...(JSON.parse(row.content) as Content),
    managedBy: row.managed_by,
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
