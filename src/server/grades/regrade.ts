import { isDeepStrictEqual } from 'node:util'
import sql from 'sql-template-tag'
import type { Course, CourseUpdate } from '../../contract/courses.ts'
import { maxWeighedGrades, type WeighedGrade, weightWarnings } from '../../contract/weight-warnings.ts'
import { type Change, recordLearning } from '../changes/change.ts'
import { storeRowChanges } from '../changes/row-changes.ts'
import type { Writing } from '../changes/writing.ts'
import { findCourse, toCourse } from '../courses/course-row.ts'
import type { Database, Row } from '../database/database.ts'
import { writeSetting } from '../database/setting.ts'
import type { Finishing } from '../http/handler.ts'
import { completeEnrollment } from '../progress/enrollment-row.ts'
import { type EnrollmentPlace, readCourseEnrollments } from '../progress/learner-state.ts'
import { type CourseGrade, courseGradesOf, storeCourseGrades } from './course-grade.ts'
import { readItems } from './gradebook-report.ts'

/** Per transaction, about ten milliseconds' worth. */
const batchSize = 250

/**
 * Updates course grades and enrolments to a course's new criteria: grades by its weights, completed if `moveOn` is met now.
 * Completed enrolments stay so. Starts in the transaction that changes the course; for many learners, `finishRegrading`
 * does the rest in small transactions. Returns warnings about the weights, if these changed.
 */
export async function regradeCourse(
  call: Writing,
  before: Course,
  course: Course,
): Promise<CourseUpdate['warnings']> {
  const { weights, moveOn, passingScore } = before.assessmentCriteria
  const now = course.assessmentCriteria
  const isWeighted = !isDeepStrictEqual(weights, now.weights)
  if (!isWeighted && moveOn === now.moveOn && passingScore <= now.passingScore) return []
  const { principal, origin } = call
  const left = await unfinishedOf(call.database, course.id)
  // Learners left over from the previous change get both.
  const weighted = isWeighted || left?.weighted === true
  await regradeSome(call, course, { weighted, after: undefined, principal, origin })
  return isWeighted ? checkWeights(call.database, course) : []
}

interface GradeRow extends Row, Omit<WeighedGrade, 'counts'> {
  /** 1 for a grade that counts. */
  readonly counts: number
}

/** Returns warnings. Reads a limited number of grades, as it runs in the transaction of an update. */
async function checkWeights(
  database: Database,
  course: Course,
): Promise<NonNullable<CourseUpdate['warnings']>> {
  const { weights } = course.assessmentCriteria
  if (weights.length === 0) return []
  const rows = await database.all<GradeRow>(sql`
    select user_id as "userId", item_id as "itemId", label, weight,
      case when published = 1 and cleared = 0 then 1 else 0 end as counts
    from grades where course_id = ${course.id} limit ${maxWeighedGrades + 1}`)
  const isCut = rows.length > maxWeighedGrades
  const others = isCut ? (await readItems(database, course.id, true)).items : []
  const names = others.flatMap(({ itemId, label }) => [itemId, label])
  const grades = rows.map((row) => ({ ...row, counts: row.counts === 1 }))
  return weightWarnings(weights, grades, isCut ? names : null)
}

/**
 * Regrades the learners left over by changes of courses, in small transactions. Several processes may do so concurrently.
 *
 * @param requestId limits it to the changes of one request
 */
export async function finishRegrading(
  { database, now, newId }: Omit<Finishing, 'requestId'>,
  requestId?: string,
): Promise<void> {
  // Most changes leave nothing; check that without a write.
  if (!(await findUnfinished(database, requestId))) return
  const next = () =>
    database.write(async (transaction) => {
      const found = await findUnfinished(transaction, requestId)
      if (!found) return false
      const { course, regrading } = found
      const { principal, origin } = regrading
      const call = { database: transaction, now: now().toISOString(), newId, principal, origin }
      await regradeSome(call, course, regrading)
      return true
    })
  while (await next());
}

/** Regrades one batch of learners and stores where the next one starts. */
async function regradeSome(call: Writing, course: Course, regrading: Regrading): Promise<void> {
  const { database } = call
  const { weighted, after } = regrading
  const { value: learners = [] } = await readCourseEnrollments(database, course.id, batchSize, after).next()
  const graded = learners.filter(({ grade }) => grade !== null).map(({ userId }) => userId)
  const grades = await courseGradesOf(database, weighted ? graded : [], course)
  const changed = new Map<string, CourseGrade>()
  const completions: Change[] = []
  for (const learner of learners) {
    const own = grades.get(learner.userId)
    const grade = own?.percent ?? learner.grade
    if (own && grade !== learner.grade) changed.set(learner.userId, own)
    const graded = { ...learner, grade }
    completions.push(...(await completeEnrollment(call, course, graded, learner.completedAt)))
  }
  await storeCourseGrades(database, course.id, changed)
  await recordLearning(call, completions)
  storeRowChanges(
    call,
    [...changed.keys()].map((userId) => ({ kind: 'course_grade', id: '', userId, courseId: course.id })),
  )
  const last = learners[batchSize - 1]
  await storeUnfinished(database, course.id, last && { ...regrading, after: last.place })
}

/** Unfinished work after a change of a course's criteria, and the actor and origin of the change. */
export interface Regrading extends Pick<Writing, 'principal' | 'origin'> {
  readonly weighted: boolean
  /** Place of the last learner done; undefined before the first. */
  readonly after: EnrollmentPlace | undefined
}

/** Prefix of settings' names; a course id follows. */
const prefix = 'regrading '
/** Greater than all names with `prefix`. */
const prefixEnd = 'regrading!'

/** Maximum courses to search for those of one request; upkeep finishes others. */
const maxCourses = 100

async function unfinishedOf(database: Database, courseId: string): Promise<Regrading | undefined> {
  const row = await database.one<Row & { value: string }>(
    sql`select value from settings where name = ${prefix + courseId}`,
  )
  return row && parseRegrading(row.value)
}

/**
 * Returns one of the unfinished courses, except those in the trash.
 *
 * @param requestId limits it to the changes of one request
 */
async function findUnfinished(
  database: Database,
  requestId: string | undefined,
): Promise<{ readonly course: Course; readonly regrading: Regrading } | undefined> {
  const rows = await database.all<Row & { id: string; value: string }>(sql`
    select c.id, s.value from settings s join courses c on c.id = substr(s.name, ${prefix.length + 1})
    where s.name > ${prefix} and s.name < ${prefixEnd} order by s.name limit ${maxCourses}`)
  for (const { id, value } of rows) {
    const regrading = parseRegrading(value)
    if (requestId !== undefined && regrading.origin.requestId !== requestId) continue
    return { course: toCourse(await findCourse(database, id)), regrading }
  }
  return undefined
}

/** Undefined deletes it. */
async function storeUnfinished(
  database: Database,
  courseId: string,
  regrading: Regrading | undefined,
): Promise<void> {
  const name = prefix + courseId
  if (regrading) await writeSetting(database, name, formatRegrading(regrading))
  else await database.run(sql`delete from settings where name = ${name}`)
}

function formatRegrading({ weighted, after, principal: { userId, credential }, origin }: Regrading): string {
  return JSON.stringify({ weighted, after, principal: { userId, credential }, origin })
}

function parseRegrading(text: string): Regrading {
  return JSON.parse(text) as Regrading
}
