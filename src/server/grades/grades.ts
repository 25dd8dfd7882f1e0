import sql from 'sql-template-tag'
import { isJsonObject } from '../../codec/json-text.ts'
import { fieldsOf } from '../../contract/fields.ts'
import { type Grade, GradeInput, type GradeStep, grades, RecordedGrade } from '../../contract/grades.ts'
import { recordFilters, seenOnly, visibleRecords } from '../access/sight.ts'
import type { Row } from '../database/database.ts'
import { during, page } from '../database/page.ts'
import { ofMembers } from '../groups/group-row.ts'
import { readBatch, runBatch, upsert } from '../http/batch.ts'
import { type Call, isRole, requireVersion } from '../http/handler.ts'
import { parseBody, routesOf } from '../http/schema-routes.ts'
import { invalid, notFound, ProblemError } from '../problem-error.ts'
import { type GradeRow, gradeColumns, scoreOf, toGrade } from './grade-row.ts'
import { deleteGrade, setGrade } from './gradebook.ts'
import { reportGrades } from './gradebook-report.ts'
import { type ResolvedGrade, resolveGrade } from './resolve-grade.ts'

interface StepRow extends Row {
  readonly grade_id: string
  readonly version: number
  readonly score_given: number | null
  readonly score_maximum: number
  readonly published: number
  readonly graded_at: string
  readonly delivery_id: string | null
  readonly recorded_at: string
  readonly recorded_by: string
  readonly recorded_by_email: string | null
}

const order = { createdAt: sql`g.created_at`, updatedAt: sql`g.updated_at`, gradedAt: sql`g.graded_at` }

export const gradeRoutes = routesOf(grades, {
  async list(call) {
    const { query, database } = call
    const by = await recordFilters(call, 'g', 'learner_id')
    return page<GradeRow, Grade>(
      database,
      {
        columns: gradeColumns,
        from: sql`grades g`,
        by,
        where: [isRole(call, 'learner') && sql`g.published = 1`],
        narrow: [
          query.item_id && sql`g.item_id = ${query.item_id}`,
          query.source && sql`g.source = ${query.source}`,
          await ofMembers(
            call,
            query.group_id,
            sql`g.user_id`,
            (isIn) =>
              sql`select i.id from group_members m cross join grades i where ${isIn} and i.user_id = m.user_id`,
          ),
        ],
        within: [
          { field: 'gradedAt', condition: during(order.gradedAt, query) },
          {
            field: 'updatedAt',
            condition: during(sql`g.updated_at`, { since: query.updated_since }),
          },
        ],
      },
      { sort: query.sort, expressions: order, id: sql`g.id` },
      query,
      toGrade,
    )
  },

  get: (call) => find(call, call.params.gradeId),

  async set(call) {
    const input = parseBody(GradeInput, writable(call.rawBody))
    const graded = await resolveGrade(call, input)
    requireUnchanged(call, graded.before)
    requireVersion(call, graded.before?.version ?? 0)
    return setGrade(call, graded)
  },

  async delete(call) {
    const grade = await find(call, call.params.gradeId)
    requireVersion(call, grade.version)
    await deleteGrade(call, grade)
    return undefined
  },

  async history(call) {
    const { id } = await find(call, call.params.gradeId)
    return page<StepRow, GradeStep>(
      call.database,
      {
        columns: sql`s.grade_id, s.version, ${scoreOf('s')}, s.score_maximum, s.published, s.graded_at, s.delivery_id,
          s.recorded_at, s.recorded_by, (select email from users where id = s.recorded_by) as recorded_by_email`,
        from: sql`grade_steps s`,
        within: [{ field: 'version', condition: sql`s.grade_id = ${id}` }],
        where: [isRole(call, 'learner') && sql`s.published = 1`, during(sql`s.recorded_at`, call.query)],
      },
      { sort: '-version', expressions: { version: sql`s.version` }, id: sql`s.grade_id` },
      call.query,
      toStep,
    )
  },

  report: { isLong: true, handle: reportGrades },

  batch(call) {
    const { items, onExists } = readBatch(call.rawBody, 'update')
    return runBatch(call, items, async (item) => {
      const input = parseBody(GradeInput, item.rawBody)
      const graded = await resolveGrade(item, input)
      let warnings: RecordedGrade['warnings']
      const write = async () => {
        const recorded = await setGrade(item, graded)
        warnings = recorded.warnings
        return recorded
      }
      if (graded.before && onExists === 'fail') {
        const { id, userEmail, itemId, courseTitle } = graded.before
        const detail = `User ${userEmail} already has a grade for item ${itemId} in course ${courseTitle}: ${id}.`
        throw new ProblemError('duplicate', detail, { members: { id } })
      }
      try {
        const outcome = await upsert(onExists, graded.before, write, write)
        return { ...outcome, ...warnings?.[0] }
      } catch (error) {
        const isStale = error instanceof ProblemError && error.code === 'stale_grade'
        const id = graded.before?.id
        if (!isStale || id === undefined || !(await isInHistory(item, id, graded.grade))) throw error
        return { id, created: false, code: 'unchanged' }
      }
    })
  },
})

/** Older and recorded before: a file with the history of grades is imported again. */
async function isInHistory(
  { database }: Call,
  id: string,
  { scoreGiven, scoreMaximum, published, gradedAt }: ResolvedGrade['grade'],
): Promise<boolean> {
  const score = scoreGiven === null ? sql`cleared = 1` : sql`cleared = 0 and score_given = ${scoreGiven}`
  const step = await database.one(sql`
    select 1 from grade_steps
    where grade_id = ${id} and graded_at = ${gradedAt ?? null} and ${score} and score_maximum = ${scoreMaximum}
      and published = ${published ? 1 : 0} limit 1`)
  return step !== undefined
}

/** Read-only fields may be sent back unchanged, see `requireUnchanged`. */
function writable(rawBody: unknown): unknown {
  if (!isJsonObject(rawBody)) return rawBody
  const shown = (field: string) => Object.hasOwn(fieldsOf(RecordedGrade) ?? {}, field)
  return Object.fromEntries(
    Object.entries(rawBody).filter(([field]) => Object.hasOwn(GradeInput.shape, field) || !shown(field)),
  )
}

/** Throws 422. */
function requireUnchanged({ rawBody }: Call, before: Grade | undefined): void {
  if (!isJsonObject(rawBody)) return
  const fixed = Object.keys(rawBody).filter(
    (field) => field !== 'warnings' && !Object.hasOwn(GradeInput.shape, field),
  )
  const changed = fixed.filter((field) => !before || rawBody[field] !== before[field as keyof Grade])
  if (changed.length === 0) return
  throw invalid(
    changed.map((field) => ({ pointer: `#/${field}`, code: 'read_only', detail: 'is read-only' })),
  )
}

async function find(call: Call, id: string): Promise<Grade> {
  const visible = visibleRecords(call, 'g')
  const row = await call.database.one<GradeRow>(
    sql`select ${gradeColumns} from grades g where ${seenOnly(sql`g.id = ${id}`, visible)}`,
  )
  if (!row || (isRole(call, 'learner') && row.published !== 1)) throw notFound('grade', id)
  return toGrade(row)
}

function toStep(row: StepRow): GradeStep {
  return {
    gradeId: row.grade_id,
    version: row.version,
    scoreGiven: row.score_given,
    scoreMaximum: row.score_maximum,
    published: row.published === 1,
    gradedAt: row.graded_at,
    deliveryId: row.delivery_id,
    recordedAt: row.recorded_at,
    recordedBy: row.recorded_by,
    recordedByEmail: row.recorded_by_email,
  }
}
