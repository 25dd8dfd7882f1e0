import { escapeHidden } from '../../codec/display-text.ts'
import { platformName } from '../../config/target.ts'
import type { Context } from '../command/context.ts'
import { courses } from '../dataset/courses.ts'
import { findShown } from '../dataset/find.ts'
import { thingName } from '../operation/thing-name.ts'
import { CommandError, ExitWith } from '../terminal/errors.ts'
import { pluralise } from '../terminal/format-text.ts'
import { whileApplying } from './apply-lock.ts'
import { lessonName, planCourse, planData, planLines } from './course-plan.ts'
import { openWriting } from './execute.ts'
import { nothingSent, sendCourse } from './send-course.ts'
import { noteHiddenAnswers, readShownCourse, type ShownCourse, shownRecords } from './sources/shown-course.ts'

/** Options of a copy that differ from its source. */
export interface CopyOptions {
  /** Profile of the target academy; undefined for the same one. */
  readonly toProfile: string | undefined
  readonly title: string | undefined
  readonly externalId: string | undefined
  readonly status: string | undefined
  /** Time to wait for another apply. */
  readonly waitLock: unknown
}

/**
 * Copies a course with its lessons, in this academy or to another. External ids are copied only to another academy,
 * because they are unique within one. Throws a CommandError if the external id is taken.
 */
export async function copyCourse(context: Context, reference: string, options: CopyOptions): Promise<void> {
  const { io, session, output } = context
  const source = await readShownCourse(await session.caller(), reference, io.signal)
  await noteHiddenAnswers(output, source.lessons)
  const target = options.toProfile === undefined ? session : context.sessionWith(options.toProfile)
  const copy = (context: Context) => makeCopy(context, source, target, options)
  if (context.settings.dryRun.value) return copy(context)
  await whileApplying(context, target, options.waitLock, copy)
}

async function makeCopy(
  context: Context,
  source: ShownCourse,
  target: Context['session'],
  options: CopyOptions,
): Promise<void> {
  const { io, session, settings, output } = context
  const { toProfile, status = 'draft' } = options
  const writing = await openWriting({ session: target, io }, 1, {
    command: 'courses copy',
    source: thingName(source.course),
  })
  const { caller, notes } = writing
  const isElsewhere = platformName(target.target()) !== platformName(session.target())
  const { course, lessons } = await shownRecords(source)
  const kept = isElsewhere ? (source.course['externalId'] ?? null) : null
  const record = {
    ...course,
    title: options.title ?? course['title'],
    externalId: options.externalId ?? kept,
    status,
  }
  if (record.externalId !== null && (await findShown(caller, courses, record, io.signal))) {
    const where = platformName(target.target())
    throw new CommandError(
      'duplicate',
      'conflict',
      `Course ${record.externalId} already exists in ${where}`,
      {
        hint: 'Give the copy another one: --external-id <id>',
      },
    )
  }
  const wanted = lessons.map((lesson) => (isElsewhere ? lesson : { ...lesson, externalId: null }))
  const plan = await planCourse({ course: record, lessons: wanted }, null, false)
  const asData = ['json', 'jsonl', 'yaml'].includes(settings.output.value)
  if (settings.dryRun.value) {
    const lines = planLines(plan).map((line) => `${escapeHidden(line)}\n`)
    return asData ? output.document(planData(plan)) : output.text(lines.join(''))
  }

  const sent = nothingSent()
  const progress = () => `${sent.created} of ${pluralise(plan.steps.length, 'lesson')}`
  const made = () => thingName({ ...record, externalId: record.externalId ?? sent.course?.['id'] })
  const remove = () =>
    `learnctl courses delete ${sent.course?.['id']} --force${toProfile === undefined ? '' : ` --profile ${toProfile}`}`
  try {
    await sendCourse(writing, plan, sent)
  } catch (error) {
    if (sent.course) {
      await output.note(
        `Copied ${progress()} to course ${made()}; delete the incomplete copy with: ${remove()}`,
      )
    }
    throw error
  }
  for (const text of notes.sentences(platformName(target.target()))) await output.note(text)
  for (const { lesson, message } of sent.refused) {
    await output.note(`Lesson ${lessonName(lesson)} was refused: ${message}`)
  }
  const where = isElsewhere ? ` in ${platformName(target.target())}` : ''
  const what = sent.refused.length > 0 ? progress() : pluralise(sent.created, 'lesson')
  await output.done(
    `Copied course ${thingName(source.course)} to course ${made()}${where}, ${status}, with ${what}`,
  )
  if (asData) await output.document(sent.course)
  else if (settings.quiet.value || !io.stdout.isTTY)
    await output.text(`${escapeHidden(String(sent.course?.['id']))}\n`)
  if (sent.refused.length > 0) throw new ExitWith('partial')
}
