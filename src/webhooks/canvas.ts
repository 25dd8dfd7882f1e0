import type { JsonObject } from '../codec/json-object.ts'
import { wholeCourse } from '../contract/whole-course.ts'
import { type Adapter, candidates, grade, ignored, type Reading } from './adapter.ts'
import { caliperGrade, isCaliper } from './canvas-caliper.ts'
import { canonicalCanvasId, canvasIds } from './canvas-id.ts'
import { malformed } from './delivery-fault.ts'
import type { Candidate, LmsEvent } from './event.ts'
import { idAt, labelAt, memberAt, numberAt, objectAt, requiredIdAt } from './member.ts'

/**
 * Events of Canvas in its own format, and graded submissions in that of Caliper 1.1
 * (canvas-lms doc/api/data_services/json).
 */
export const adaptCanvas: Adapter = (reading) => {
  const { body } = reading
  if (isCaliper(body)) return caliperGrade(reading)
  const name = labelAt(body, 'metadata.event_name')
  if (name === '') throw malformed('metadata.event_name is required.')
  const adapt = Object.hasOwn(events, name) ? events[name] : undefined
  if (adapt === undefined) return ignored(name, 'event_type')
  objectAt(body, 'body')
  return adapt(reading, name)
}

const events: Readonly<Record<string, (reading: Reading, name: string) => LmsEvent>> = {
  grade_change: itemGrade,
  course_grade_change: courseGrade,
  course_progress: progress,
  course_completed: progress,
}

function itemGrade({ body, settings, at }: Reading, name: string): LmsEvent {
  // An override of the grade of a whole course goes by the same name, and may be that of one grading period.
  if (memberAt(body, 'body.override_score') !== undefined) return ignored(name, 'event_type')
  if (memberAt(body, 'metadata.context_type') !== 'Course') return ignored(name, 'context')
  const root = idAt(body, 'metadata.root_account_id')
  const learner = candidates(
    ...canvasIds(idAt(body, 'body.user_id') ?? idAt(body, 'body.student_id'), root),
    ['externalId', idAt(body, 'body.student_sis_id')],
  )
  // A submission that is graded without names.
  if (learner.length === 0) return ignored(name, 'anonymous')
  const scoreGiven = numberAt(body, 'body.score')
  // Null does not take a grade back by itself: it may be a grade that has no score.
  if (scoreGiven === null && (memberAt(body, 'body.grade') ?? '') !== '') return ignored(name, 'no_score')
  const event = {
    name,
    course: courseOfContext(body, root),
    learner,
    itemId: canonicalCanvasId(requiredIdAt(body, 'body.assignment_id'), root),
    label: '',
    scoreGiven,
    scoreMaximum: numberAt(body, 'body.points_possible'),
    published: memberAt(body, 'body.muted') !== true && memberAt(body, 'body.grading_complete') !== false,
    gradedAt: at(),
  }
  return grade({ ...event, takesDefault: false }, settings)
}

function courseGrade({ body, settings, at }: Reading, name: string): LmsEvent {
  const root = idAt(body, 'metadata.root_account_id')
  const event = {
    name,
    course: candidates(
      ...canvasIds(requiredIdAt(body, 'body.course_id'), root),
      ...courseOfContext(body, root, true).map(({ by, value }) => [by, value] as const),
    ),
    learner: candidates(...canvasIds(requiredIdAt(body, 'body.user_id'), root)),
    itemId: wholeCourse,
    label: '',
    // What is not graded yet counts for nothing here, as in a gradebook of ours; final_score counts it as zero.
    scoreGiven: numberAt(body, 'body.current_score'),
    scoreMaximum: 100,
    published: memberAt(body, 'body.workflow_state') !== 'deleted',
    gradedAt: at(),
  }
  return grade({ ...event, takesDefault: false }, settings)
}

/** The course is that of the context; the user of the metadata is whoever graded. */
function courseOfContext(body: JsonObject, root: string | null, optional = false): Candidate[] {
  const id = optional ? idAt(body, 'metadata.context_id') : requiredIdAt(body, 'metadata.context_id')
  return candidates(...canvasIds(id, root), ['externalId', idAt(body, 'metadata.context_sis_source_id')])
}

function progress({ body, at }: Reading, name: string): LmsEvent {
  const root = idAt(body, 'metadata.root_account_id')
  const done = numberAt(body, 'body.progress.requirement_completed_count') ?? 0
  const all = numberAt(body, 'body.progress.requirement_count') ?? 0
  const isCompleted = name === 'course_completed'
  if (!isCompleted && all <= 0) return ignored(name, 'no_requirements')
  return {
    type: 'progress',
    name,
    course: candidates(...canvasIds(requiredIdAt(body, 'body.course.id'), root), [
      'externalId',
      idAt(body, 'body.course.sis_source_id'),
    ]),
    learner: candidates(...canvasIds(requiredIdAt(body, 'body.user.id'), root), [
      'email',
      idAt(body, 'body.user.email'),
    ]),
    percentage: isCompleted ? 100 : Math.min(100, Math.max(0, (done / all) * 100)),
    at: at(),
  }
}
