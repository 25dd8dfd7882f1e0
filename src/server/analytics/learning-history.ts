import sql, { join, type Sql } from 'sql-template-tag'
import type { Period } from '../../contract/analytics.ts'
import type { LearningRecord, Subject } from '../../lms/xapi.ts'
import { type Asking, recordFilters } from '../access/sight.ts'
import type { Database, Row } from '../database/database.ts'
import {
  fenced,
  invalidCursor,
  type Page,
  type Place,
  page,
  readCursor,
  where,
  writeCursor,
} from '../database/page.ts'
import { enrollmentsOfMembers, ofMembers } from '../groups/group-row.ts'

interface AskingForHistory extends Asking {
  readonly query: {
    readonly limit: number
    readonly cursor?: string | undefined
    readonly course_id?: string | undefined
    readonly learner_id?: string | undefined
    readonly group_id?: string | undefined
  }
}

/** Name in cursors: by enrolment; within one progress, grades by id, and the grade of the course. */
const sort = 'history'
const enrollmentSort = 'createdAt'
const order = { sort: enrollmentSort, expressions: { createdAt: sql`e.created_at` }, id: sql`e.id` }

/**
 * Reads a page of what learners have reached: each entry of the history of progress, the completion that one of them makes, each
 * entry of the history of published grades with a score, and the grade of the course as it is now.
 *
 * A page looks at a bounded number of rows: it has the records of several enrolments, or a part of those of one.
 * What is recorded while pages are read shifts nothing. Throws 400 `invalid_cursor`, and 404 as `recordFilters` does.
 */
export async function readLearningHistory(
  call: AskingForHistory,
  period: Period,
): Promise<Page<LearningRecord>> {
  const { database, query } = call
  const { limit } = query
  const inside = query.cursor === undefined ? undefined : readHistoryCursor(query.cursor)
  const found = await readEnrollments(call, period, inside)
  const [first] = found.data
  if (!first) return { data: [], nextCursor: found.nextCursor }
  const from = isWithin(inside, first) ? inside : startOf(first)
  const rows = from.version > 0 ? [first] : fittingRows(found.data, limit)
  const last = rows.at(-1) ?? first
  const isEnd = rows.length === found.data.length
  const next = isEnd ? found.nextCursor : historyCursor(startOf(last))
  return readRecords(database, { rows, from, next }, limit, period)
}

/** Returns the first rows whose records surely fit a page, at least one. */
function fittingRows(rows: readonly EnrolledRow[], limit: number): readonly EnrolledRow[] {
  let room = limit
  const end = rows.findIndex((row) => {
    room -= maxRecordsOf(row)
    return room < 0
  })
  return end < 0 ? rows : rows.slice(0, Math.max(1, end))
}

interface EnrolledRow extends Row, Place {
  readonly user_id: string
  readonly user_email: string
  readonly user_external_id: string | null
  readonly course_id: string
  readonly course_title: string
  readonly course_language: string | null
  readonly passing_score: number
  readonly steps: number
  readonly grade_steps: number
  readonly percent: number | null
  readonly percent_at: string | null
}

const enrolledColumns = sql`e.user_id, u.email as user_email, u.external_id as user_external_id, e.course_id,
  c.title as course_title, c.attributes ->> 'language' as course_language,
  c.passing_score,
  coalesce(p.version, 0) as steps,
  coalesce((select sum(g.version) from grades g where g.user_id = e.user_id and g.course_id = e.course_id), 0) as grade_steps,
  cg.percent, cg.updated_at as percent_at`

/** A page looks at no more, because many may have nothing in the period. */
const maxWalked = 1000
const chunkSize = 100

/** After a place, or from the one on that it is within. */
async function readEnrollments(
  call: AskingForHistory,
  period: Period,
  inside: Inside | undefined,
): Promise<Page<EnrolledRow>> {
  const { database, query } = call
  const by = await recordFilters(call, 'e', 'learner_id')
  const walked = await page<Place, Place>(
    database,
    {
      columns: sql`e.user_id`,
      from: sql`enrollments e`,
      by,
      narrow: [await ofMembers(call, query.group_id, sql`e.user_id`, enrollmentsOfMembers)],
    },
    order,
    { limit: maxWalked, cursor: inside && enrollmentCursor(inside) },
    (row) => row,
  )
  const isPassed = ({ cursor_value: value, cursor_id: id }: Place) =>
    value === inside?.value && id < inside.enrollment
  const left = walked.data.filter((place) => !isPassed(place))
  const end = walked.nextCursor && historyCursor(placeIn(walked.nextCursor))
  for (let index = 0; index < left.length; index += chunkSize) {
    const chunk = left.slice(index, index + chunkSize)
    const last = index + chunkSize < left.length ? chunk.at(-1) : undefined
    const nextCursor = last ? historyCursor(startOf(last)) : end
    const data = await readDetails(database, chunk, period)
    if (data.length > 0) return { data, nextCursor }
  }
  return { data: [], nextCursor: end }
}

/** In the order of `places`; no removed ones, and none of a deleted user. */
function readDetails(
  database: Database,
  places: readonly Place[],
  { start, end }: Period,
): Promise<EnrolledRow[]> {
  const hasGrade = (condition: Sql) => sql`exists (
    select 1 from grades g where g.user_id = e.user_id and g.course_id = e.course_id and ${condition})`
  // No entry of a history is newer than its record.
  const isKnown =
    start === null
      ? sql`(p.version is not null or ${hasGrade(sql`true`)})`
      : sql`(p.last_accessed >= ${start} or ${hasGrade(sql`g.graded_at >= ${start}`)})`
  const isBegun = end !== null && sql`(p.started_at < ${end} or ${hasGrade(sql`true`)})`
  return database.all<EnrolledRow>(sql`
    select ${enrolledColumns}, e.created_at as cursor_value, e.id as cursor_id
    from enrollments e
      left join users u on u.id = e.user_id
      left join courses c on c.id = e.course_id
      left join progress p on p.user_id = e.user_id and p.course_id = e.course_id
      left join course_grades cg on cg.user_id = e.user_id and cg.course_id = e.course_id
    ${where([
      sql`e.id in (${join(places.map(({ cursor_id: id }) => id))})`,
      fenced([
        sql`e.status <> 'deleted'`,
        sql`e.role = 'learner'`,
        sql`u.status <> 'deleted'`,
        isKnown,
        isBegun,
      ]),
    ])}
    order by e.created_at, e.id`)
}

/** Every second entry of progress may complete the enrolment. */
function maxRecordsOf({ steps, grade_steps: gradeSteps }: EnrolledRow): number {
  return Math.ceil(steps * 1.5) + Number(gradeSteps) + 1
}

/** Progress has no grade; the grade of the course comes last. */
interface Inside {
  readonly value: string
  readonly enrollment: string
  readonly grade: string
  /** 0 for the place before all records; in a cursor, for the one after the enrolment. */
  readonly version: number
  /** 1 for a completion, which follows the progress that makes it. */
  readonly part: number
}

type RecordPlace = Pick<Inside, 'grade' | 'version' | 'part'>

/** Sorts after the id of each grade. */
const afterGrades = '~'

function startOf({ cursor_value: value, cursor_id: enrollment }: Place): Inside {
  return { value: String(value), enrollment, grade: '', version: 0, part: 0 }
}

function isWithin(inside: Inside | undefined, { cursor_id: id }: EnrolledRow): inside is Inside {
  return inside?.enrollment === id && inside.version > 0
}

interface Placed {
  readonly at: RecordPlace
  readonly happenedAt: string
  readonly is?: LearningRecord
}

/** `next` is the cursor after all of them. */
async function readRecords(
  database: Database,
  {
    rows,
    from,
    next,
  }: { readonly rows: readonly EnrolledRow[]; readonly from: Inside; readonly next: string | null },
  limit: number,
  period: Period,
): Promise<Page<LearningRecord>> {
  const isIn = sql`e.id in (${join(rows.map(({ cursor_id: id }) => id))})`
  const steps =
    from.grade === ''
      ? await readSteps(database, sql`${isIn} and s.version >= ${from.version}`, limit + 1)
      : []
  const isPastSteps = steps.length <= limit
  const hasGrades = from.grade !== afterGrades && rows.some(({ grade_steps: count }) => count > 0)
  const grades =
    isPastSteps && hasGrades
      ? await readGradeSteps(
          database,
          sql`${isIn} and (g.id, s.version) >= (${from.grade}, ${from.version})`,
          limit + 1,
        )
      : []
  const stepsById = Map.groupBy(steps, (step) => step.enrollment_id)
  const gradesById = Map.groupBy(grades, (grade) => grade.enrollment_id)
  const rest = rows
    .flatMap((row) => recordsOf(row, stepsById.get(row.cursor_id) ?? [], gradesById.get(row.cursor_id) ?? []))
    .filter(({ at }) => comparePlaces(at, from) > 0)
  const isLast = isPastSteps && grades.length <= limit && rest.length <= limit
  const own = rest.slice(0, limit)
  return {
    data: recordsIn(own, period),
    nextCursor: isLast ? next : historyCursor({ ...from, ...own.at(-1)?.at }),
  }
}

function recordsIn(placed: readonly Placed[], { start, end }: Period): LearningRecord[] {
  return placed.flatMap(({ happenedAt, is }) => {
    const isDuring = (start === null || happenedAt >= start) && (end === null || happenedAt < end)
    return is && isDuring ? [is] : []
  })
}

function comparePlaces(one: RecordPlace, other: RecordPlace): number {
  if (one.grade !== other.grade) return one.grade < other.grade ? -1 : 1
  return one.version - other.version || one.part - other.part
}

function historyCursor({ value, enrollment, grade, version, part }: Inside): string {
  return writeCursor(sort, value, enrollment, grade, version, part)
}

function readHistoryCursor(cursor: string): Inside {
  const [value, enrollment, grade, version, part] = readCursor(cursor, sort, 5)
  const texts = [value, enrollment, grade].every((text) => typeof text === 'string')
  if (!texts || !Number.isSafeInteger(version) || !Number.isSafeInteger(part)) throw invalidCursor()
  return {
    value: String(value),
    enrollment: String(enrollment),
    grade: String(grade),
    version: Number(version),
    part: Number(part),
  }
}

/** Returns the cursor of the list of enrolments at a place: after the enrolment, or shortly before the one that it is within. */
function enrollmentCursor({ value, enrollment, version }: Inside): string {
  // A part of an id sorts before the id.
  return writeCursor(enrollmentSort, value, version > 0 ? enrollment.slice(0, -1) : enrollment)
}

function placeIn(cursor: string): Inside {
  const [value, enrollment] = readCursor(cursor, enrollmentSort, 2)
  return { value: String(value), enrollment: String(enrollment), grade: '', version: 0, part: 0 }
}

interface StepRow extends Row {
  readonly enrollment_id: string
  readonly version: number
  readonly percentage: number
  readonly status: string
  readonly last_accessed: string
  readonly previous_status: string | null
}

/** In the order of versions; SQLite keeps the order of a cross join. */
function readSteps(database: Database, condition: Sql, limit: number): Promise<StepRow[]> {
  return database.all<StepRow>(sql`
    select e.id as enrollment_id, s.version, s.percentage, s.status, s.last_accessed,
      (select q.status from progress_steps q
        where q.user_id = s.user_id and q.course_id = s.course_id and q.version = s.version - 1) as previous_status
    from enrollments e cross join progress_steps s
    where s.user_id = e.user_id and s.course_id = e.course_id and ${condition}
    order by e.id, s.version limit ${limit}`)
}

interface GradeStepRow extends Row {
  readonly enrollment_id: string
  readonly id: string
  readonly version: number
  readonly item_id: string
  readonly label: string
  readonly score_given: number
  readonly cleared: number
  readonly score_maximum: number
  readonly published: number
  readonly graded_at: string
}

function readGradeSteps(database: Database, condition: Sql, limit: number): Promise<GradeStepRow[]> {
  return database.all<GradeStepRow>(sql`
    select e.id as enrollment_id, g.id, s.version, g.item_id, g.label, s.score_given, s.cleared, s.score_maximum, s.published,
      s.graded_at
    from enrollments e cross join grades g cross join grade_steps s
    where g.user_id = e.user_id and g.course_id = e.course_id and s.grade_id = g.id and ${condition}
    order by e.id, g.id, s.version limit ${limit}`)
}

function recordsOf(row: EnrolledRow, steps: readonly StepRow[], grades: readonly GradeStepRow[]): Placed[] {
  const subject = subjectOf(row)
  const courseGrade = courseGradeOf(row, subject)
  return [
    ...steps.flatMap((step) => progressOf(step, subject)),
    ...grades.map((grade) => gradeOf(grade, subject)),
    ...(courseGrade ? [courseGrade] : []),
  ]
}

function subjectOf(row: EnrolledRow): Subject {
  return {
    learner: { id: row.user_id, externalId: row.user_external_id, email: row.user_email },
    course: { id: row.course_id, title: row.course_title, language: row.course_language },
  }
}

function progressOf(step: StepRow, subject: Subject): Placed[] {
  const { version, percentage, last_accessed: lastAccessed } = step
  const record = { ...subject, version, completionPercentage: percentage, lastAccessed }
  const placed = (kind: 'progress' | 'completion', part: number): Placed => ({
    at: { grade: '', version, part },
    happenedAt: lastAccessed,
    is: { kind, record },
  })
  const isCompletion = step.status === 'completed' && step.previous_status !== 'completed'
  return isCompletion ? [placed('progress', 0), placed('completion', 1)] : [placed('progress', 0)]
}

/** A grade that is cleared, or not published, tells nothing. */
function gradeOf(row: GradeStepRow, subject: Subject): Placed {
  const { id, version, score_given: scoreGiven, graded_at: gradedAt } = row
  const placed = { at: { grade: id, version, part: 0 }, happenedAt: gradedAt }
  if (row.cleared === 1 || row.published !== 1) return placed
  const own = { id, version, itemId: row.item_id, label: row.label, scoreGiven, gradedAt }
  const record = { ...subject, ...own, scoreMaximum: row.score_maximum }
  return { ...placed, is: { kind: 'grade', record } }
}

function courseGradeOf(row: EnrolledRow, subject: Subject): Placed | undefined {
  const { percent, percent_at: updatedAt, passing_score: passingScore } = row
  if (percent === null || updatedAt === null) return undefined
  const record = { ...subject, percent, passed: percent >= passingScore, updatedAt }
  return {
    at: { grade: afterGrades, version: 1, part: 0 },
    happenedAt: updatedAt,
    is: { kind: 'courseGrade', record },
  }
}
