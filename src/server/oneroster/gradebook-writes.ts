import sql from 'sql-template-tag'
import * as z from 'zod'
import { maxScore } from '../../contract/constants.ts'
import { GradeInput } from '../../contract/grades.ts'
import { itemIn } from '../../lms/oneroster-mapping.ts'
import type { Principal } from '../access/principal.ts'
import { recordChange } from '../changes/change.ts'
import type { Writing } from '../changes/writing.ts'
import { findCourse, requireNotArchived } from '../courses/course-row.ts'
import { type GradeRow, gradeColumns, toGrade } from '../grades/grade-row.ts'
import { deleteGrade, setGrade } from '../grades/gradebook.ts'
import { resolveGrade } from '../grades/resolve-grade.ts'
import { parseBody } from '../http/schema-routes.ts'
import { idNamed } from './collection.ts'
import { type CourseItem, findItem, findStoredItem, itemOf } from './line-items.ts'
import { refused, unknownRecord } from './query.ts'
import { findGradeId, newestGradeOf } from './results.ts'

export interface GradebookWrite {
  readonly call: Writing
  readonly clientId: string
  readonly sourcedId: string
  readonly body: unknown
}

export interface Written {
  readonly isNew: boolean
}

const id = z.string().min(1).max(255)
const ref = z.object({ sourcedId: id })
const instant = z.iso.datetime({ offset: true }).or(z.iso.date())
const score = z.number().min(0).max(maxScore)

const LineItemBody = z.object({
  lineItem: z.object({
    sourcedId: id.optional(),
    title: z.string().trim().min(1).max(255),
    description: z.string().max(10_000).nullish(),
    assignDate: instant.nullish(),
    dueDate: instant.nullish(),
    class: ref,
    category: ref.nullish(),
    resultValueMin: score.nullish(),
    resultValueMax: score.positive().nullish(),
  }),
})

/** Throws 404 for an unknown class, and 422 for one of another class. */
export async function putLineItem({ call, sourcedId, body }: GradebookWrite): Promise<Written> {
  const { database, now } = call
  const { lineItem } = parseBody(LineItemBody, body)
  requireSameId(lineItem.sourcedId, sourcedId)
  const courseId = await idNamed(database, 'courses', lineItem.class.sourcedId)
  if (courseId === undefined) throw unknownRecord('class', lineItem.class.sourcedId)
  requireNotArchived(await findCourse(database, courseId))
  const place = await findItem(database, sourcedId)
  if (place && place.courseId !== courseId)
    throw invalid('class', 'is another one than that of the line item')
  const itemId = place?.itemId ?? itemIn(sourcedId, lineItem.class.sourcedId)
  const shown = place && (await itemOf(database, place))
  const stored = await database.one<{ id: string }>(
    sql`select id from line_items where course_id = ${courseId} and item_id = ${itemId}`,
  )
  const item = {
    id: stored?.id ?? sourcedId,
    courseId,
    itemId,
    title: lineItem.title,
    description: lineItem.description ?? '',
    categoryId: lineItem.category?.sourcedId ?? '',
    assignDate: timeOf(lineItem.assignDate) ?? shown?.assignDate ?? now,
    dueDate: timeOf(lineItem.dueDate) ?? shown?.dueDate ?? now,
    scoreMinimum: lineItem.resultValueMin ?? 0,
    scoreMaximum: lineItem.resultValueMax ?? shown?.max ?? 100,
  }
  await database.run(sql`
    insert into line_items (id, course_id, item_id, title, description, category_id, assign_date, due_date, score_minimum,
                            score_maximum, created_at, updated_at)
    values (${item.id}, ${courseId}, ${itemId}, ${item.title}, ${item.description}, ${item.categoryId}, ${item.assignDate},
            ${item.dueDate}, ${item.scoreMinimum}, ${item.scoreMaximum}, ${now}, ${now})
    on conflict (id) do update set title = excluded.title, description = excluded.description,
      category_id = excluded.category_id, assign_date = excluded.assign_date, due_date = excluded.due_date,
      score_minimum = excluded.score_minimum, score_maximum = excluded.score_maximum, updated_at = excluded.updated_at`)
  const isNew = shown === undefined
  const action = isNew ? 'line_item.created' : 'line_item.updated'
  await recordChange(call, {
    action,
    id: item.id,
    before: shown ? auditedItem(courseId, shown) : null,
    after: item,
  })
  return { isNew }
}

function auditedItem(courseId: string, item: CourseItem): object {
  const { sourcedId: id, itemId, title, description, categoryId, assignDate, dueDate, min, max } = item
  const scores = { scoreMinimum: min, scoreMaximum: max }
  return { id, courseId, itemId, title, description, categoryId, assignDate, dueDate, ...scores }
}

/** Throws 404, and 409 for one with results or a weight of its class. */
export async function deleteLineItem({ call, sourcedId }: GradebookWrite): Promise<undefined> {
  const { database } = call
  const place = await findItem(database, sourcedId)
  const shown = place && (await itemOf(database, place))
  if (!place || !shown) throw unknownRecord('line item', sourcedId)
  const { courseId, itemId } = place
  requireNotArchived(await findCourse(database, courseId))
  const graded = await database.one(
    sql`select 1 from grades where course_id = ${courseId} and item_id = ${itemId} limit 1`,
  )
  if (graded) throw refused('has_progress', 'invaliddata', 'The line item has results: delete these first.')
  const stored = await findStoredItem(database, sourcedId)
  if (!stored) {
    throw refused(
      'forbidden',
      'forbidden',
      'The line item is a weight of its class, which belongs to the academy.',
    )
  }
  await database.run(sql`delete from line_items where id = ${stored.id}`)
  await recordChange(call, {
    action: 'line_item.deleted',
    id: stored.id,
    before: auditedItem(courseId, shown),
    after: null,
  })
  return undefined
}

const statuses = ['exempt', 'fully graded', 'not submitted', 'partially graded', 'submitted'] as const

const ResultBody = z.object({
  result: z.object({
    sourcedId: id.optional(),
    lineItem: ref,
    student: ref,
    scoreStatus: z.enum(statuses),
    score: z.number().min(0).max(maxScore).nullish(),
    scoreDate: instant,
    comment: z.string().max(10_000).nullish(),
  }),
})

const source = 'oneroster'

/**
 * Creates or changes the result of a student: a score that is fully graded is a grade, one that is partially graded an
 * unpublished grade; any other is no grade, but stays with the result. Throws 404 for an unknown line item or student, 409
 * for a student outside the class, and 422 for a result of another student or line item.
 */
export async function putResult({ call, clientId, sourcedId, body }: GradebookWrite): Promise<Written> {
  const { database, now } = call
  const { result } = parseBody(ResultBody, body)
  requireSameId(result.sourcedId, sourcedId)
  const place = await findItem(database, result.lineItem.sourcedId)
  const item = place && (await itemOf(database, place))
  if (!place || !item) throw unknownRecord('line item', result.lineItem.sourcedId)
  const userId = await idNamed(database, 'users', result.student.sourcedId)
  if (userId === undefined) throw unknownRecord('student', result.student.sourcedId)
  const { courseId, itemId } = place
  const before = await readGrade(call, await findGradeId(database, sourcedId))
  const isOther =
    before && (before.learnerId !== userId || before.courseId !== courseId || before.itemId !== itemId)
  if (isOther) throw invalid('lineItem', 'or student is another one than that of the result')
  const isGraded = result.scoreStatus === 'fully graded' || result.scoreStatus === 'partially graded'
  const resolved = await resolveGrade(
    { database, principal: machinePrincipal(clientId) },
    parseBody(GradeInput, {
      ...{ learnerId: userId, courseId, itemId, label: item.title, scoreMaximum: item.max },
      source:
        before?.source ?? (await newestGradeOf(database, { userId, courseId, itemId }))?.source ?? source,
      scoreGiven: isGraded ? (result.score ?? null) : null,
      published: result.scoreStatus !== 'partially graded',
      gradedAt: gradedAtOf(result.scoreDate, now, before?.gradedAt),
    }),
  )
  const grade = await setGrade(call, resolved)
  await database.run(sql`
    insert into results (grade_id, sourced_id, score_status, score, comment)
    values (${grade.id}, ${sourcedId}, ${result.scoreStatus}, ${result.score ?? null}, ${result.comment ?? ''})
    on conflict (grade_id) do update set sourced_id = excluded.sourced_id, score_status = excluded.score_status, score = excluded.score,
      comment = excluded.comment`)
  return { isNew: resolved.before === undefined }
}

/** Throws 404. */
export async function deleteResult({ call, sourcedId }: GradebookWrite): Promise<undefined> {
  const grade = await readGrade(call, await findGradeId(call.database, sourcedId))
  if (!grade) throw unknownRecord('result', sourcedId)
  await deleteGrade(call, grade)
  return undefined
}

async function readGrade({ database }: Writing, gradeId: string | undefined) {
  if (gradeId === undefined) return undefined
  const row = await database.one<GradeRow>(sql`select ${gradeColumns} from grades g where g.id = ${gradeId}`)
  return row && toGrade(row)
}

/** Not in the future, and not before that of the stored score, which the result replaces. */
function gradedAtOf(scoreDate: string, now: string, before: string | undefined): string {
  const given = timeOf(scoreDate) ?? now
  const past = given > now ? now : given
  return before !== undefined && before > past ? before : past
}

function timeOf(text: string | null | undefined): string | undefined {
  return text ? new Date(text).toISOString() : undefined
}

function requireSameId(given: string | undefined, sourcedId: string): void {
  if (given !== undefined && given !== sourcedId)
    throw invalid('sourcedId', 'is another one than that of the path')
}

function invalid(field: string, problem: string): Error {
  return refused('validation_failed', 'invaliddata', `The field ${field} ${problem}.`)
}

/** An application sees the whole academy: it has no user. */
function machinePrincipal(credential: string): Principal {
  return { userId: '', role: 'admin', sees: 'all', scopes: [], method: 'oauth', credential }
}
