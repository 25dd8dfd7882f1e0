import sql from 'sql-template-tag'
import type { Database, Row } from '../database/database.ts'
import type { Actions, UndoAction } from './plan-undo.ts'

export interface PlacedLesson extends Row {
  readonly id: string
  readonly title: string
  readonly order: number
}

/** Places of the lessons of courses, before lessons are restored and moved. */
export type Places = ReadonlyMap<string, ReadonlyMap<string, PlacedLesson>>

/** Reads the places of the lessons of each course where lessons come back or move. */
export async function readPlaces(database: Database, actions: readonly UndoAction[]): Promise<Places> {
  const courseIds = actions.flatMap(({ of, kind, fields, current, net }) => {
    const isPlaced = kind === 'create' || fields.has('order') || fields.has('courseId')
    if (of.name !== 'lesson' || !isPlaced) return []
    return [current?.['courseId'] ?? net.known['courseId'], fields.get('courseId')?.to]
  })
  const places = new Map<string, ReadonlyMap<string, PlacedLesson>>()
  for (const courseId of new Set(courseIds)) {
    if (typeof courseId === 'string') places.set(courseId, await readLessons(database, courseId))
  }
  return places
}

async function readLessons(database: Database, courseId: string): Promise<ReadonlyMap<string, PlacedLesson>> {
  const lessons = await database.all<PlacedLesson>(
    sql`select id, title, position as "order" from lessons where course_id = ${courseId} order by position`,
  )
  return new Map(lessons.map((lesson) => [lesson.id, lesson]))
}

/** A lesson to move, and the `order` to send. */
export interface LessonMove {
  readonly lesson: PlacedLesson
  readonly courseId: string
  readonly order: number
}

/**
 * Returns the moves that bring the lessons of courses to their former places, course by course, in the order of sending:
 * lessons of the plan to those before its change, all others to those before the undo, which moves them on the way.
 */
export async function movesToFormerPlaces(
  database: Database,
  { places: former }: Actions,
  before: Places,
): Promise<readonly LessonMove[]> {
  const moves: LessonMove[] = []
  for (const [courseId, earlier] of before) {
    const lessons = [...(await readLessons(database, courseId)).values()]
    const placeOf = ({ id, order }: PlacedLesson) => former.get(id) ?? earlier.get(id)?.order ?? order
    const sorted = lessons.toSorted(
      (one, other) =>
        placeOf(one) - placeOf(other) ||
        // A lesson that was there before stands before one that took its place since.
        Number(former.has(other.id)) - Number(former.has(one.id)) ||
        one.order - other.order,
    )
    const now = new Map(lessons.map(({ id, order }) => [id, order]))
    let last = 0
    for (const lesson of sorted) {
      last = Math.max(placeOf(lesson), last + 1)
      if (now.get(lesson.id) === last) continue
      moves.push({ lesson, courseId, order: last })
      shift(now, lesson.id, last)
    }
  }
  return moves
}

/** Moves a lesson as the API does: if the place is taken, that lesson and the following ones move on by one. */
function shift(orders: Map<string, number>, moved: string, order: number): void {
  orders.delete(moved)
  if ([...orders.values()].includes(order)) {
    for (const [id, other] of orders) if (other >= order) orders.set(id, other + 1)
  }
  orders.set(moved, order)
}
