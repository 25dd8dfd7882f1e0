import sql, { empty, join } from 'sql-template-tag'
import { aboveMaximumText, isGradable, notGradableText, wholeCourse } from '../../contract/constants.ts'
import type { Course } from '../../contract/courses.ts'
import { defaultSource, type Grade, type GradeInput } from '../../contract/grades.ts'
import type { User } from '../../contract/users.ts'
import { type Asking, seenOnly, visibleCourses } from '../access/sight.ts'
import {
  type CourseRow,
  courseColumns,
  findCourse,
  type Opening,
  requireOpen,
  toCourse,
} from '../courses/course-row.ts'
import type { Database } from '../database/database.ts'
import { isOf } from '../database/reference.ts'
import { invalid, ProblemError, parentNotFound } from '../problem-error.ts'
import type { LearnerState } from '../progress/learner-state.ts'
import { findUser, findVisibleUser, requireNotDeleted } from '../users/user-row.ts'
import { weightIn } from './course-grade.ts'
import { type GradeRow, scoreOf, toGrade } from './grade-row.ts'

type Learner = Pick<User, 'id' | 'email' | 'externalId'> & { readonly status: string }

interface NewGrade extends Pick<Grade, 'itemId' | 'source' | 'label' | 'scoreGiven' | 'scoreMaximum'> {
  readonly weight: number | null
  readonly published: boolean
  readonly gradedAt: string | undefined
}

/** `before` is the stored grade with the same learner, course, source and item. */
export interface ResolvedGrade {
  readonly learner: Learner
  readonly course: Course
  readonly before: Grade | undefined
  readonly grade: NewGrade
  /** The maximum is that of the item's newest grade, and others have another one. */
  readonly isMaximumUnsure: boolean
  readonly state: Pick<LearnerState, 'userId' | 'courseId' | 'enrollment'>
  /** When the learner completed the content, ISO 8601 in UTC. */
  readonly completedAt: string | null
}

type GradedParts = Pick<
  GradeRow,
  | 'user_id'
  | 'user_external_id'
  | 'label'
  | 'score_given'
  | 'score_maximum'
  | 'weight'
  | 'published'
  | 'graded_at'
  | 'delivery_id'
>

interface GradedRow extends CourseRow, GradedParts {
  readonly source: string
  readonly item_label: string | null
  readonly item_weight: number | null
  readonly item_maximum: number | null
  /** 1 if recent grades of the item have several maxima. */
  readonly has_maxima: number | null
  readonly user_status: string
  readonly email: string
  readonly enrollment: string
  readonly enrollment_id: string
  readonly progress_status: string | null
  readonly percentage: number | null
  readonly last_seen: string
  readonly risen_at: string | null
  readonly completed_at: string | null
  readonly course_percent: number | null
  readonly grade_id: string | null
  readonly grade_version: number
  readonly grade_created_at: string
  readonly grade_updated_at: string
}

const maxCompared = 20

const maxSources = 10

/**
 * Fills in missing fields. Throws 404 that points to an unknown learner or course; 409 if the course is archived, or the
 * learner deleted or not enrolled; 422 without a source if several graded the item. `guard` runs before other checks, and
 * may throw.
 */
export async function resolveGrade(
  call: Asking & Opening,
  input: GradeInput,
  guard: (learner: Pick<Learner, 'email' | 'status'>) => void = () => {},
): Promise<ResolvedGrade> {
  const rows = await findGradedRows(call, input)
  const [row] = rows
  if (!row) return refuse(call, input, guard)
  const learner = {
    id: row.user_id,
    status: row.user_status,
    email: row.email,
    externalId: row.user_external_id,
  }
  guard(learner)
  requireNotDeleted(learner, learner.email)
  await requireOpen(call, row)
  if (row.enrollment === 'inactive' && !(await call.isOpened?.(row.enrollment_id))) {
    throw notEnrolled(learner.email, row.title)
  }
  if (rows.length > 1) throw severalSources(rows)
  const course = toCourse(row)
  const before = storedIn(row, input)
  return {
    learner,
    course,
    before,
    grade: completeGrade(input, before, row, course),
    isMaximumUnsure: input.scoreMaximum === undefined && before === undefined && Boolean(row.has_maxima),
    state: { userId: row.user_id, courseId: row.id, enrollment: row.enrollment },
    completedAt: row.completed_at,
  }
}

function findGradedRows(call: Asking & Opening, input: GradeInput): Promise<GradedRow[]> {
  const { source, itemId } = input
  const [itemColumns, item] = takesFromItem(input)
    ? [
        sql`i.label as item_label, i.weight as item_weight, i.score_maximum as item_maximum, exists (
          select 1 from (
            select n.score_maximum from grades n where n.course_id = e.course_id and n.item_id = ${itemId}
            order by n.created_at desc limit ${maxCompared}) recent
          where recent.score_maximum <> i.score_maximum) as has_maxima`,
        sql`left join grades i on g.id is null and i.id = (
          select n.id from grades n where n.course_id = e.course_id and n.item_id = ${itemId}
          order by n.created_at desc limit 1)`,
      ]
    : [sql`null as item_label, null as item_weight, null as item_maximum, null as has_maxima`, empty]
  const statuses = ['active', 'completed', ...(call.isOpened ? ['inactive'] : [])]
  const asLearner = sql`e.role = 'learner' and e.status in (${join(statuses)})`
  return call.database.all<GradedRow>(sql`
    select ${courseColumns}, e.user_id, u.status as user_status, u.email, u.external_id as user_external_id,
      e.status as enrollment, e.id as enrollment_id, p.status as progress_status, p.percentage,
      coalesce(p.last_accessed, e.enrolled_at) as last_seen, p.risen_at, p.completed_at,
      cg.percent as course_percent, g.id as grade_id, g.source, g.label, ${scoreOf('g')}, g.score_maximum, g.weight, g.published,
      g.graded_at, g.delivery_id, g.version as grade_version, g.created_at as grade_created_at,
      g.updated_at as grade_updated_at, ${itemColumns}
    from enrollments e
    join users u on u.id = e.user_id
    join courses c on c.id = e.course_id
    left join progress p on p.user_id = e.user_id and p.course_id = e.course_id
    left join course_grades cg on cg.user_id = e.user_id and cg.course_id = e.course_id
    left join grades g on g.user_id = e.user_id and g.course_id = e.course_id and g.item_id = ${itemId}
      ${source ? sql`and g.source = ${source}` : empty}
    ${item}
    where ${isOf(sql`e.user_id`, 'users', input.learnerId)} and ${isOf(sql`e.course_id`, 'courses', input.courseId)}
      and ${seenOnly(asLearner, visibleCourses(call, 'c'))}
    limit ${maxSources}`)
}

function takesFromItem({ itemId, label, scoreMaximum, weight }: GradeInput): boolean {
  return itemId !== wholeCourse && [label, scoreMaximum, weight].includes(undefined)
}

/**
 * Returns a grade with all its fields: an absent one is as stored, else the default; label, maximum and weight of a
 * first grade are those of the item's other grades. A weight that the criteria of the course give to the item is left to them.
 */
function completeGrade(
  { itemId, source, scoreGiven, gradedAt, extraCredit, ...input }: GradeInput,
  before: Grade | undefined,
  row: GradedRow,
  course: Course,
): NewGrade {
  const valueOr = <Value>(
    given: Value | null | undefined,
    stored: Value | null | undefined,
    initial: Value,
  ) => (given === undefined ? (stored ?? initial) : (given ?? initial))
  const label = valueOr(input.label, before?.label ?? row.item_label, '')
  const scoreMaximum = valueOr(input.scoreMaximum, before?.scoreMaximum ?? row.item_maximum, 100)
  const named = weightIn(course.assessmentCriteria.weights, itemId, label)
  const itemWeight = named === null ? row.item_weight : null
  const weight = valueOr<number | null>(input.weight, before ? before.weight : itemWeight, null)
  if (scoreGiven !== null && !isGradable(scoreGiven, scoreMaximum)) {
    throw invalid([{ pointer: '#/scoreGiven', code: 'out_of_range', detail: notGradableText }])
  }
  if (extraCredit === false && scoreGiven !== null && scoreGiven > scoreMaximum) {
    const detail = aboveMaximumText(scoreMaximum)
    throw invalid([{ pointer: '#/scoreGiven', code: 'above_maximum', detail }])
  }
  return {
    itemId,
    source: source ?? before?.source ?? defaultSource,
    label,
    scoreGiven,
    scoreMaximum,
    weight,
    published: valueOr(input.published, before?.published, true),
    gradedAt,
  }
}

function severalSources(rows: readonly GradedRow[]): ProblemError {
  const sources = rows.map(({ source }) => source).sort()
  const detail = `must be given: there is a grade of this item from each of ${sources.join(', ')}`
  return invalid([{ pointer: '#/source', code: 'required', detail }])
}

async function refuse(
  call: Asking & Opening,
  { learnerId, courseId }: GradeInput,
  guard: (learner: Learner) => void,
): Promise<never> {
  const missing = (pointer: string, noun: string, reference: string) => (error: unknown) => {
    throw error instanceof ProblemError && error.status === 404
      ? parentNotFound(pointer, noun, reference)
      : error
  }
  const [user, row] = await Promise.all([
    findVisibleUser(call, learnerId).catch(missing('#/learnerId', 'user', learnerId)),
    findCourse(call.database, courseId, visibleCourses(call, 'c')).catch(
      missing('#/courseId', 'course', courseId),
    ),
  ])
  guard(user)
  requireNotDeleted(user, user.email)
  await requireOpen(call, row)
  throw notEnrolled(user.email, row.title)
}

/** Throws 409 `enrollment_inactive`. */
export async function requireLearner(database: Database, userId: string, courseId: string): Promise<void> {
  const enrolled = await database.one(sql`
    select 1 from enrollments
    where user_id = ${userId} and course_id = ${courseId} and role = 'learner' and status in ('active', 'completed')`)
  if (enrolled) return
  const [user, course] = await Promise.all([findUser(database, userId), findCourse(database, courseId)])
  throw notEnrolled(user.email, course.title)
}

function notEnrolled(email: string, title: string): ProblemError {
  const detail = `User ${email} is not enrolled in course ${title} as a learner, or the enrolment is inactive.`
  return new ProblemError('enrollment_inactive', detail)
}

function storedIn(row: GradedRow, { itemId }: GradeInput): Grade | undefined {
  if (row.grade_id === null) return undefined
  return toGrade({
    ...row,
    id: row.grade_id,
    user_email: row.email,
    course_id: row.id,
    course_title: row.title,
    course_external_id: row.external_id,
    item_id: itemId,
    version: row.grade_version,
    created_at: row.grade_created_at,
    updated_at: row.grade_updated_at,
  })
}
