import type * as z from 'zod'
import { ApiError } from '../../client/errors.ts'
import type { JsonObject } from '../../codec/json-text.ts'
import { CourseRecord, courses } from '../dataset/courses.ts'
import { lessons } from '../dataset/lessons.ts'
import { thingName } from '../operation/thing-name.ts'
import type { BulkChange } from '../session/bulk-change.ts'
import { CommandError } from '../terminal/errors.ts'
import { capitalise, pluralise } from '../terminal/format-text.ts'
import { type CarriedOut, type RefusedWrite, type Staged, stage, type Write } from './carry-out.ts'
import { type CoursePlan, isEmpty, type LessonStep, lessonName } from './course-plan.ts'
import { LessonAttributes } from './lessons.ts'
import { versionOf, type Writer } from './write.ts'

/** A write of a course plan: of the course, or of one of its lessons. */
interface CourseWrite {
  readonly plan: CoursePlan
  /** Null for the course. */
  readonly lesson: JsonObject | null
}

/** The writes of course plans, kept by the server. */
export interface StagedCourses {
  /** Returns sentences about records that would be restored. Throws a CommandError that lists what would be refused. */
  trial(): Promise<readonly string[]>
  /** Carries all plans out together. Returns the ids of the courses. Throws a CommandError that lists what was refused. */
  send(): Promise<readonly string[]>
  drop(): Promise<void>
}

/** Sends the plans of courses to the server: each course, then its lessons in their order, then deletions. */
export async function stageCourses(
  writer: Pick<Writer, 'caller' | 'signal' | 'names'>,
  change: BulkChange,
  plans: readonly CoursePlan[],
): Promise<StagedCourses> {
  const writes: Write<CourseWrite>[] = []
  for (const plan of plans) {
    if (!isEmpty(plan)) writes.push(...(await writesOf(writer, plan, writes.length)))
  }
  const staged: Staged<CourseWrite> = await stage(writer, change, writes)
  return {
    async trial() {
      const tried = await staged.trial()
      if (tried && tried.refused.length > 0) {
        await staged.drop()
        throw refusal(tried.refused, 'nothing was changed')
      }
      return tried ? restoredTexts(tried) : []
    },
    async send() {
      const outcome = await staged.carryOut({ skipsRefused: false })
      if (outcome.refused.length > 0) {
        throw refusal(
          outcome.refused,
          outcome.done === 0 ? 'nothing was changed' : 'some changes were made before',
        )
      }
      const shown = writes.filter(({ action }) => action === 'create' || action === 'update')
      const idOf = (plan: CoursePlan) =>
        plan.current?.['id'] ??
        outcome.ids[shown.findIndex(({ from }) => from.plan === plan && from.lesson === null)]
      return plans.map((plan) => String(idOf(plan)))
    },
    drop: staged.drop,
  }
}

/** @param first number of the first of these writes in the plan of the server */
async function writesOf(
  { names }: Pick<Writer, 'names'>,
  plan: CoursePlan,
  first: number,
): Promise<Write<CourseWrite>[]> {
  const { current, record, steps } = plan
  const status = plan.status !== null && plan.status !== current?.['status'] ? { status: plan.status } : {}
  const from = { plan, lesson: null }
  const writes: Write<CourseWrite>[] = []
  if (current === null) {
    const { externalId, ...others } = record
    const made = {
      ...whole(NamelessCourse, others),
      ...(externalId !== null && { externalId }),
      ...status,
    }
    writes.push({ noun: 'course', action: 'create', record: await courses.toBody(made, null, names), from })
  } else {
    const body = await courses.toBody({ ...plan.body, ...status }, current, names)
    const action = Object.keys(body).length > 0 ? 'update' : 'keep'
    writes.push({
      noun: 'course',
      action,
      id: current['id'],
      version: versionOf(current),
      record: body,
      from,
    })
  }
  const courseId = current === null ? `step:${first}` : current['id']
  const made = new Map<JsonObject, number>()
  for (const step of steps) {
    if (step.action === 'create') made.set(step.record, first + writes.length)
    writes.push(await lessonWrite(plan, step, courseId))
  }
  // A lesson that comes back from the trash shifts the others.
  if (made.size > 0) {
    const places = plan.sequence.map(({ id, record }, index) => {
      const step = id === undefined ? { step: made.get(record) } : { id }
      return { ...step, order: index + 1 }
    })
    writes.push({ noun: 'lesson', action: 'place', record: { courseId, places }, from })
  }
  for (const lesson of plan.prune ? plan.absent : []) {
    writes.push({ noun: 'lesson', action: 'delete', id: lesson['id'], from: { plan, lesson } })
  }
  return writes

  async function lessonWrite(
    plan: CoursePlan,
    { action, current, body, record: lesson }: LessonStep,
    courseId: unknown,
  ): Promise<Write<CourseWrite>> {
    const { module = action === 'create' ? null : undefined, ...others } = body
    const { order: _, externalId: _id, ...named } = others
    const attributes = action === 'create' ? whole(NamelessLesson, named) : {}
    const record = {
      ...(await lessons.toBody({ ...attributes, ...others, courseId }, current, names)),
      ...(module !== undefined && { module }),
    }
    return { noun: 'lesson', action, id: current?.['id'], record, from: { plan, lesson } }
  }
}

const NamelessCourse = CourseRecord.omit({ externalId: true })
const NamelessLesson = LessonAttributes.omit({ externalId: true })

/** Returns a record with its defaults: one that comes back from the trash has nothing but what the file says. */
function whole(schema: z.ZodObject, record: JsonObject): JsonObject {
  const parsed = schema.safeParse(record)
  const fields = parsed.success ? Object.entries(parsed.data) : []
  return { ...record, ...Object.fromEntries(fields.filter(([, value]) => value !== undefined)) }
}

/** Returns a sentence for each course of which something is restored. */
function restoredTexts({ restored }: CarriedOut<CourseWrite>): string[] {
  return [...Map.groupBy(restored, ({ plan }) => plan)].map(([{ record }, writes]) => {
    const count = writes.filter(({ lesson }) => lesson !== null).length
    const course = `course ${thingName(record)}`
    if (count < writes.length) return `Restores from the trash: ${course}`
    return `Restores from the trash: ${pluralise(count, 'lesson')} of ${course}`
  })
}

/** Maximum refused writes to name. */
const maxNamed = 20

function refusal(refused: readonly RefusedWrite<CourseWrite>[], others: string): CommandError {
  const lines = refused.map(({ from: { plan, lesson }, message }) => {
    const name = lesson === null ? `course ${thingName(plan.record)}` : `lesson ${lessonName(lesson)}`
    return `${capitalise(name)}: ${message}`
  })
  const [first] = refused
  const isTaken = first?.code === 'duplicate' && first.from.lesson === null
  return new CommandError(
    first?.code ?? 'failed',
    isTaken ? 'conflict' : 'partial',
    `${pluralise(refused.length, 'change')} refused; ${others}`,
    {
      why: [
        ...lines.slice(0, maxNamed),
        ...(lines.length > maxNamed ? [`and ${lines.length - maxNamed} more`] : []),
      ],
      hint: 'Correct the file and apply it again',
    },
  )
}

/** Returns an error for a course that changed after it was compared; other errors unchanged. */
export function changedSince(error: unknown, plans: readonly CoursePlan[]): unknown {
  if (!(error instanceof ApiError) || error.code !== 'plan_outdated') return error
  const names = plans.map(({ record }) => thingName(record)).join(', ')
  const message = `${plans.length === 1 ? 'Course' : 'One of the courses'} ${names} has changed since it was compared`
  return new CommandError(error.code, 'conflict', message, {
    why: ['Nothing was changed'],
    hint: 'Run the same command again',
    cause: error,
  })
}
