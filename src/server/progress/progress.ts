import sql from 'sql-template-tag'
import { isJsonObject } from '../../codec/json-object.ts'
import {
  Progress,
  ProgressInput,
  ProgressItem,
  type ProgressStep,
  progress,
} from '../../contract/progress.ts'
import { findCourse, knownCourses } from '../courses/course-row.ts'
import type { Row } from '../database/database.ts'
import { during } from '../database/keyset.ts'
import { page } from '../database/page.ts'
import { resolve, resolveFilter } from '../database/reference.ts'
import { readBatch, runBatch, upsert } from '../http/batch.ts'
import { type Call, requireVersion } from '../http/handler.ts'
import { resourceOf, routesOf } from '../http/schema-routes.ts'
import { parseBody } from '../http/validation.ts'
import { ProblemError } from '../problem-error.ts'
import { findUser } from '../users/user-row.ts'
import { progressOfAll } from './progress-of-all.ts'
import { progressReads, visibleLearner } from './progress-reads.ts'
import { findProgress, type StepRow, stepColumns, toStep } from './progress-row.ts'
import { setProgress } from './progress-setting.ts'

export const progressRoutes = routesOf(progress, {
  ...progressReads,
  ...progressOfAll,

  async set(call) {
    const learner = await visibleLearner(call, call.params.learnerId)
    const input = resourceOf(call, ProgressInput, Progress, await readOnlyFieldsOf(call, learner.id))
    return setProgress(call, learner, input, (current) => requireVersion(call, current?.version ?? 0))
  },

  async history(call) {
    const { database, query, params } = call
    const { id } = await visibleLearner(call, params.learnerId)
    const courseId = await resolveFilter(
      database,
      'courses',
      query.course_id,
      'course_id',
      knownCourses(call),
    )
    return page<StepRow, ProgressStep>(
      database,
      {
        columns: stepColumns,
        from: sql`progress_steps s`,
        within: [{ field: 'version', condition: sql`s.user_id = ${id} and s.course_id = ${courseId}` }],
        where: [during(sql`s.recorded_at`, query)],
      },
      { sort: '-version', expressions: { version: sql`s.version` }, id: sql`s.course_id` },
      query,
      toStep,
    )
  },

  batch(call) {
    const { items, onExists } = readBatch(call.rawBody, 'update')
    return runBatch(call, items, async (item) => {
      const write = async () => {
        const { learnerId, ...input } = parseBody(ProgressItem, item.rawBody)
        const written = await setProgress(call, await findUser(call.database, learnerId), input)
        return { id: written.learnerId, version: written.version }
      }
      const before = await existing(item)
      if (before && onExists === 'fail') throw await alreadyRecorded(call, before)
      return upsert(onExists, before, write, write)
    })
  },
})

/** Returns the stored read-only fields, which a caller may send back unchanged. */
async function readOnlyFieldsOf({ database, rawBody }: Call, userId: string): Promise<Partial<Progress>> {
  const given = isJsonObject(rawBody) ? rawBody : {}
  // Most requests contain no read-only field.
  if (Object.keys(given).every((field) => Object.hasOwn(ProgressInput.shape, field))) return {}
  const reference = given['courseId']
  const courseId = typeof reference === 'string' ? await resolve(database, 'courses', reference) : undefined
  const stored = courseId === undefined ? undefined : await findProgress(database, userId, courseId)
  return Object.fromEntries(
    Object.entries(stored ?? {}).filter(([field]) => !Object.hasOwn(ProgressInput.shape, field)),
  )
}

interface ExistingRow extends Row {
  readonly id: string
  readonly version: number
  readonly course_id: string
}

async function alreadyRecorded(
  { database }: Call,
  { id, course_id: courseId }: ExistingRow,
): Promise<ProblemError> {
  const [{ email }, { title }] = await Promise.all([findUser(database, id), findCourse(database, courseId)])
  const detail = `User ${email} already has progress in course ${title}.`
  return new ProblemError('duplicate', detail, { members: { id } })
}

async function existing({ database, rawBody }: Call): Promise<ExistingRow | undefined> {
  if (!isJsonObject(rawBody)) return undefined
  const { learnerId, courseId } = rawBody
  if (typeof learnerId !== 'string' || typeof courseId !== 'string') return undefined
  return database.one<ExistingRow>(sql`
    select user_id as id, version, course_id from progress
    where user_id = ${(await resolve(database, 'users', learnerId)) ?? ''}
      and course_id = ${(await resolve(database, 'courses', courseId)) ?? ''}`)
}
