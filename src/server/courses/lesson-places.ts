import sql from 'sql-template-tag'
import type { Call } from '../http/handler.ts'
import { recordLessonsOf } from './lesson-versions.ts'

/** The place after the last lesson of a course. */
export async function nextPlace({ database }: Call, courseId: string, ownId = ''): Promise<number> {
  const last = await database.one<{ last: number }>(
    sql`select coalesce(max(position), 0) as last from lessons where course_id = ${courseId} and id <> ${ownId}`,
  )
  return (last?.last ?? 0) + 1
}

/** Where another lesson has this place, shifts it and those after it by one. */
export async function makeRoom(call: Call, courseId: string, wanted: number, ownId = ''): Promise<void> {
  const { database, now } = call
  const taken = await database.one(
    sql`select 1 from lessons where course_id = ${courseId} and position = ${wanted} and id <> ${ownId}`,
  )
  if (!taken) return
  await database.run(
    sql`update lessons set position = position + 1, version = version + 1, updated_at = ${now}
        where course_id = ${courseId} and position >= ${wanted} and id <> ${ownId}`,
  )
  recordLessonsOf(call, courseId, ['order'])
}
