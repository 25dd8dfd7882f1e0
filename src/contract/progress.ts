import * as z from 'zod'
import { batchOf } from './batch.ts'
import { answered, field, named, sent, shown } from './fields.ts'
import {
  filtering,
  inGroups,
  listOf,
  ofCourse,
  ofCourses,
  ofEnrolledLearners,
  paging,
  period,
  periodAndUpdates,
} from './lists.ts'
import { everyone, operationsOf, teachers } from './operation.ts'
import { textOrNull, timeOrNull, updatedAt, version } from './record-fields.ts'
import { Instant, Percent, Reference, Time } from './values.ts'

/** Derived from the completion percentage when progress is recorded. */
export const progressStatuses = ['not_started', 'in_progress', 'completed'] as const
export const ProgressStatus = named(
  'ProgressStatus',
  'Derived from the completion percentage when progress is recorded',
  z.enum(progressStatuses),
)

const attributes = {
  courseId: field(
    Reference,
    'Course: id or ext:<externalId>; responses have the id',
    'Course: id or external id',
  ),
  completionPercentage: field(
    Percent,
    'Percentage of the course that is completed, 0–100; a number, not text',
    'Percentage completed, 0–100',
  ),
  lastAccessed: field(
    Instant.optional(),
    'When the learner last accessed the course (default now)',
    'Day or time of the progress, or how long ago, such as 2h',
  ),
}
const learnerId = field(Reference, 'Learner: id, ext:<externalId> or email:<address>; responses have the id')

/** Always sent as a whole. */
export const ProgressInput = named(
  'ProgressInput',
  'The progress of a learner in a course, always as a whole',
  sent(attributes),
)
export type ProgressInput = z.output<typeof ProgressInput>

export const ProgressItem = named(
  'ProgressItem',
  'The progress of one learner in one course',
  sent({ learnerId, ...attributes }),
)
export type ProgressItem = z.output<typeof ProgressItem>

function shownFields(asOf: string) {
  const { courseId, completionPercentage, lastAccessed } = answered(attributes)
  return {
    learnerId: field(z.string(), learnerId.says),
    userEmail: field(z.string(), `E-mail address of the learner as it is now${asOf}`),
    userExternalId: textOrNull('The school’s own id of the learner, as it is now'),
    courseId,
    courseTitle: field(z.string(), `Title of the course as it is now${asOf}`),
    courseExternalId: textOrNull('The school’s own id of the course, as it is now'),
    completionPercentage,
    status: field(
      ProgressStatus,
      'completed from the completion threshold of the course, in_progress below it, also at 0; not_started only without progress',
    ),
    lastAccessed: { ...lastAccessed, says: 'When the learner last accessed the course' },
  }
}

export const Progress = named(
  'Progress',
  'The progress of a learner in a course',
  shown(() => {
    const { lastAccessed, ...others } = shownFields(', whatever the version of the progress')
    return {
      ...others,
      startedAt: timeOrNull('When the learner first accessed the course; null before that'),
      lastAccessed,
      completedAt: timeOrNull(
        'When the learner first reached the completion threshold; kept if progress falls again',
      ),
      version,
      updatedAt,
    }
  }),
)
export type Progress = z.output<typeof Progress>

export const ProgressStep = named(
  'ProgressStep',
  'One entry of the progress history of a learner in a course',
  shown(() => {
    const { completionPercentage, status, lastAccessed, ...whose } = shownFields('')
    return {
      ...whose,
      version: field(z.int(), 'Version of the progress that this entry made'),
      completionPercentage,
      status,
      lastAccessed,
      recordedAt: field(Time, 'When the entry was recorded'),
    }
  }),
)
export type ProgressStep = z.output<typeof ProgressStep>

const recordList = listOf(Progress, 'progress records')
const stepList = listOf(ProgressStep, 'the progress history of a learner in a course')

const { include_total: _, ...uncounted } = paging

export const progress = operationsOf('progress', {
  all: {
    at: 'GET /v1/progress',
    summary: 'List the progress of all learners, in the order of their enrolments',
    roles: everyone,
    query: z.strictObject({
      course_id: ofCourses,
      learner_id: ofEnrolledLearners,
      group_id: inGroups,
      ...periodAndUpdates('Last accessed', 'lastAccessed'),
      ...paging,
    }),
    ...recordList,
  },
  steps: {
    at: 'GET /v1/progress/history',
    summary: 'List the progress history of all learners, oldest first within each enrolment',
    roles: everyone,
    query: z.strictObject({
      course_id: ofCourses,
      learner_id: ofEnrolledLearners,
      group_id: inGroups,
      ...period('Recorded', 'recordedAt'),
      ...uncounted,
    }),
    ...stepList,
  },
  list: {
    at: 'GET /v1/learners/{learnerId}/progress',
    summary: 'List the progress of a learner',
    roles: everyone,
    query: z.strictObject({
      course_id: ofCourse,
      ...periodAndUpdates('Last accessed', 'lastAccessed'),
      ...paging,
    }),
    ...recordList,
  },
  set: {
    at: 'PUT /v1/learners/{learnerId}/progress',
    summary: 'Record the progress of a learner in a course',
    lenient:
      'With handling=lenient, a lastAccessed that is older than the stored one, or in the future, is adjusted instead of refused',
    published: true,
    roles: [...teachers, 'learner'],
    body: ProgressInput,
    response: Progress,
  },
  history: {
    at: 'GET /v1/learners/{learnerId}/progress/history',
    summary: 'List the progress history of a learner in a course, newest first',
    roles: everyone,
    query: z.strictObject({
      course_id: filtering(Reference.meta({ description: 'Course: id or ext:<externalId> (required)' }), {
        by: 'reference',
        field: 'courseId',
        to: 'courseId',
      }),
      ...period('Recorded', 'recordedAt'),
      ...paging,
    }),
    ...stepList,
  },
  batch: {
    at: 'POST /v1/progress/batch',
    summary: 'Record up to 1,000 progress updates',
    roles: teachers,
    ...batchOf(ProgressItem, 'update', 'ProgressBatch'),
  },
})
