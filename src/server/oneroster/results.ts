import sql, { type Sql } from 'sql-template-tag'
import { resultIdOf, scoreOn, splitIds } from '../../lms/oneroster-mapping.ts'
import type { Database, Row } from '../database/database.ts'
import {
  type Asking,
  active,
  baseFields,
  type Collection,
  idNamed,
  refTo,
  type Scope,
  since,
} from './collection.ts'
import { type GradedCourse, readCourseItems } from './line-items.ts'

interface ResultRow extends Row {
  readonly course_id: string
  readonly item_id: string
  readonly user: string
  readonly user_status: string
  readonly score_given: number
  readonly score_maximum: number
  readonly cleared: number
  readonly published: number
  readonly graded_at: string
  readonly updated_at: string
  readonly superseded: number
  readonly sourced_id: string | null
  readonly score_status: string | null
  readonly score: number | null
  readonly comment: string | null
}

/** Another source has a newer grade of the same item: OneRoster has one score of each learner and item. */
const superseded = sql`case when exists (
  select 1 from grades n where n.user_id = g.user_id and n.course_id = g.course_id and n.item_id = g.item_id
    and n.source <> g.source and n.published = 1 and n.cleared = 0
    and (n.graded_at > g.graded_at or (n.graded_at = g.graded_at and n.source < g.source))) then 1 else 0 end`

const columns = sql`g.course_id, g.item_id, g.score_given, g.score_maximum, g.cleared, g.published, g.graded_at,
  g.updated_at, (select coalesce(external_id, id) from users where id = g.user_id) as "user",
  (select status from users where id = g.user_id) as user_status, ${superseded} as superseded,
  r.sourced_id, r.score_status, r.score, r.comment`

/** Published grades, and grades that another system has described beyond a score. */
export const results: Collection = {
  plural: 'results',
  singular: 'result',
  fields: [
    ...[
      ...baseFields,
      'lineItem',
      'student',
      'class',
      'scoreStatus',
      'score',
      'textScore',
      'scoreDate',
      'comment',
    ],
    ...['scoreScale', 'inProgress', 'incomplete', 'late', 'missing'],
  ],
  async parts(asking, scope, narrowing, byModified) {
    const { database } = asking
    const place = placeIn(scope)
    if (byModified && place.where.length > 0) return null
    const by = byModified ? [sql`g.updated_at`, sql`g.id`] : place.by
    const sourcedId = narrowing.values.get('sourcedId')
    const only = sourcedId === undefined ? undefined : ((await findGradeId(database, sourcedId)) ?? '')
    return [
      {
        columns,
        from: sql`grades g left join results r on r.grade_id = g.id`,
        where: [
          since(narrowing, byModified, sql`g.updated_at`),
          ...place.where,
          only !== undefined && sql`g.id = ${only}`,
        ],
        by: only === undefined ? by : [sql`g.id`],
        isIn: sql`((g.published = 1 and g.cleared = 0) or coalesce(r.score_status, 'fully graded') <> 'fully graded') and ${superseded} = 0`,
        isActive: sql`(select status from users where id = g.user_id) <> 'deleted'`,
        show: (rows) => showResults(asking, rows as readonly ResultRow[]),
      },
    ]
  },
}

function placeIn({ courseId, itemId, userId }: Scope): {
  readonly where: Sql[]
  readonly by: readonly Sql[]
} {
  if (courseId === undefined) return { where: [], by: [sql`g.id`] }
  const ofCourse = sql`g.course_id = ${courseId}`
  if (itemId !== undefined) {
    const where = [ofCourse, sql`g.item_id = ${itemId}`]
    return { where, by: [sql`g.created_at`, sql`g.user_id`, sql`g.source`] }
  }
  if (userId !== undefined) {
    return { where: [sql`g.user_id = ${userId}`, ofCourse], by: [sql`g.source`, sql`g.item_id`] }
  }
  return { where: [ofCourse], by: [sql`g.created_at`, sql`g.id`] }
}

/** Returns the id of the grade of a result: by the id that another system gave it, else by course, item and user. */
export async function findGradeId(database: Database, sourcedId: string): Promise<string | undefined> {
  const stored = await database.one<{ grade_id: string }>(
    sql`select grade_id from results where sourced_id = ${sourcedId}`,
  )
  if (stored) return stored.grade_id
  const [course, itemId, user] = splitIds(sourcedId)
  if (course === undefined || itemId === undefined || user === undefined) return undefined
  const [courseId, userId] = [
    await idNamed(database, 'courses', course),
    await idNamed(database, 'users', user),
  ]
  return (await newestGradeOf(database, { userId: userId ?? '', courseId: courseId ?? '', itemId }))?.id
}

interface SourceRow extends Row {
  readonly id: string
  readonly source: string
  readonly graded_at: string
  readonly counts: number
}

/** Returns the learner's grade of an item that OneRoster has: of several sources the newest that counts. */
export async function newestGradeOf(
  database: Database,
  { userId, courseId, itemId }: Readonly<Record<'userId' | 'courseId' | 'itemId', string>>,
): Promise<SourceRow | undefined> {
  const rows = await database.all<SourceRow>(sql`
    select id, source, graded_at, case when published = 1 and cleared = 0 then 1 else 0 end as counts from grades
    where user_id = ${userId} and course_id = ${courseId} and item_id = ${itemId}`)
  const rankOf = ({ counts, graded_at: time }: SourceRow) => `${counts} ${time}`
  const inOrder = rows.toSorted((one, other) => (one.source < other.source ? -1 : 1))
  return inOrder.reduce<SourceRow | undefined>(
    (best, row) => (best && rankOf(best) >= rankOf(row) ? best : row),
    undefined,
  )
}

async function showResults(
  asking: Asking,
  rows: readonly ResultRow[],
): Promise<readonly (readonly object[])[]> {
  const courses = new Map<string, GradedCourse | undefined>()
  for (const { course_id: id } of rows) {
    if (!courses.has(id)) courses.set(id, await readCourseItems(asking.database, id))
  }
  return rows.map((row) => {
    const isScored = row.published === 1 && row.cleared === 0
    const course = courses.get(row.course_id)
    const item = course?.items.find(({ itemId }) => itemId === row.item_id)
    if (row.superseded === 1 || !course || !item || row.user === null) return []
    // The academy may have graded since, or cleared the grade.
    const status = isScored ? 'fully graded' : row.score_status
    if (!isScored && (status === null || status === 'fully graded')) return []
    const given = row.cleared === 0 ? scoreOn(item.max, row.score_given, row.score_maximum) : row.score
    const record = {
      ...active(
        row.sourced_id ?? resultIdOf(course.key, row.item_id, row.user),
        row.updated_at,
        row.user_status !== 'deleted',
      ),
      lineItem: refTo(asking, 'lineItem', item.sourcedId),
      student: refTo(asking, 'user', row.user),
      ...(asking.version === '1.2' && { class: refTo(asking, 'class', course.key) }),
      scoreStatus: status,
      ...(given !== null && { score: given }),
      scoreDate: row.graded_at.slice(0, 10),
      ...(row.comment && { comment: row.comment }),
    }
    return [record]
  })
}
