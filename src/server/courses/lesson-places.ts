import sql, { type Sql } from 'sql-template-tag'
import type { Lesson } from '../../contract/lessons.ts'
import { recordUpdate } from '../changes/change.ts'
import type { Call } from '../http/handler.ts'
import { type LessonRow, lessonColumns, toLesson } from './lesson-row.ts'
import { recordLessonsOf } from './lesson-versions.ts'

export async function findNextPlace({ database }: Call, courseId: string, ownId = ''): Promise<number> {
  const last = await database.one<{ last: number }>(
    sql`select coalesce(max(position), 0) as last from lessons where course_id = ${courseId} and id <> ${ownId}`,
  )
  return (last?.last ?? 0) + 1
}

/** Shifts the lessons from a place on by one, if the place is taken. */
export async function makeRoom(call: Call, courseId: string, wanted: number, ownId = ''): Promise<void> {
  const { database } = call
  const occupant = await database.one(
    sql`select 1 from lessons where course_id = ${courseId} and position = ${wanted} and id <> ${ownId}`,
  )
  if (!occupant) return
  await changeLessonsOf(call, courseId, {
    which: sql`position >= ${wanted} and id <> ${ownId}`,
    set: sql`position = position + 1`,
    changed: ({ order }) => ({ order: order + 1 }),
  })
}

interface ChangeOfLessons {
  readonly which: Sql
  readonly set: Sql
  readonly changed: (lesson: Lesson) => Partial<Lesson>
}

export async function changeLessonsOf(
  call: Call,
  courseId: string,
  { which, set, changed }: ChangeOfLessons,
): Promise<void> {
  const { database, now } = call
  const rows = await database.all<LessonRow>(
    sql`select ${lessonColumns} from lessons l where l.course_id = ${courseId} and ${which}`,
  )
  const [first] = rows
  if (!first) return
  const lessons = rows.map((row) => {
    const before = toLesson(row)
    return { before, after: { ...before, ...changed(before), version: before.version + 1, updatedAt: now } }
  })
  await database.run(sql`
    update lessons set ${set}, version = version + 1, updated_at = ${now} where course_id = ${courseId} and ${which}`)
  recordLessonsOf(call, courseId, Object.keys(changed(toLesson(first))))
  for (const { before, after } of lessons) await recordUpdate(call, 'lesson', before, after)
}
