import sql, { type Sql } from 'sql-template-tag'
import type { Lesson, LessonInput } from '../../contract/lessons.ts'
import { type Asking, seenOnly, visibleCourses } from '../access/sight.ts'
import type { Database, Row } from '../database/database.ts'
import type { IdPrefix } from '../database/id.ts'
import { resolve } from '../database/reference.ts'
import { notFound } from '../problem-error.ts'

/** `content` is JSON of all fields that no query needs. */
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
  readonly due_at: string | null
  readonly status: string
  readonly content: string
  readonly managed_by: string | null
  readonly version: number
  readonly created_at: string
  readonly updated_at: string
}

/** From `lessons l`. */
export const lessonColumns = sql`l.id, l.external_id, l.course_id,
  (select title from courses where id = l.course_id) as course_title, l.module_id, l.title, l.description, l.position,
  l.duration_minutes, l.due_at, l.status, l.content, l.managed_by, l.version, l.created_at, l.updated_at`

export const isPublished = sql`c.status = 'published' and l.status = 'published'`

/** Throws 404. */
export function findVisibleLesson(call: Asking, reference: string): Promise<LessonRow> {
  const { sees } = call.principal
  return findLesson(call.database, reference, sees === 'own' ? isPublished : visibleCourses(call, 'c'))
}

/** `visible` is a condition on `l` and its course `c`; throws 404. */
export async function findLesson(database: Database, reference: string, visible?: Sql): Promise<LessonRow> {
  const id = await resolve(database, 'lessons', reference)
  const row =
    id &&
    (await database.one<LessonRow>(
      sql`select ${lessonColumns} from lessons l join courses c on c.id = l.course_id where ${seenOnly(sql`l.id = ${id}`, visible)}`,
    ))
  if (!row) throw notFound('lesson', reference)
  return row
}

/** A new field of the contract is stored here without further code. */
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
  | 'dueAt'
  | 'status'
  | 'managedBy'
  | 'version'
  | 'createdAt'
  | 'updatedAt'
>

export function contentOf(input: StoredInput): string {
  const { externalId, courseId, moduleId, title, description, order, ...rest } = input
  const { durationMinutes, dueAt, status, managedBy, ...content } = rest
  return JSON.stringify(content satisfies Content)
}

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
    dueAt: row.due_at,
    status: row.status as Lesson['status'],
    // Written by `contentOf`.
    ...(JSON.parse(row.content) as Content),
    managedBy: row.managed_by,
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

type StoredInput = ReturnType<typeof withContentIds>

export function withContentIds(input: LessonInput, newId: (prefix: IdPrefix) => string) {
  return {
    ...input,
    contentBlocks: input.contentBlocks.map(({ id = newId('blk'), ...block }) => ({ id, ...block })),
    assessments: input.assessments.map(({ id = newId('asm'), questions, ...assessment }) => ({
      id,
      ...assessment,
      questions: questions.map(({ id = newId('qst'), ...question }) => ({ id, ...question })),
    })),
  }
}

export function hideAnswers(lesson: Lesson): Lesson {
  return {
    ...lesson,
    assessments: lesson.assessments.map((assessment) => ({
      ...assessment,
      questions: assessment.questions.map(({ answer, ...question }) => question),
    })),
  }
}
