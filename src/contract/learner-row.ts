import * as z from 'zod'
import { isDay, isInstant } from '../codec/time-text.ts'
import { Difficulty } from './course-parts.ts'
import { EnrollmentStatus } from './enrollments.ts'
import { field, named, shown } from './fields.ts'
import { ProgressStatus } from './progress.ts'
import { textOrNull, timeOrNull } from './record-fields.ts'
import { Percent, Reference, Time } from './values.ts'

/** A day or a time. */
export const Bound = z.string().refine((text) => isDay(text) || isInstant(text), {
  params: { code: 'invalid_time' },
  error: 'must be a day (2026-01-31, UTC) or an RFC 3339 time with zone',
})

export const learnerNames = {
  learnerId: field(z.string(), 'Id of the learner, usr_…'),
  email: field(z.string(), 'E-mail address of the learner'),
  firstName: textOrNull('First name'),
  lastName: textOrNull('Last name'),
  externalId: textOrNull('Your own id for the learner'),
}

/** The order of these fields is that of the CSV columns; new fields are appended. */
export const learnerFields = {
  ...learnerNames,
  courseId: field(Reference, 'Id of the course, crs_…'),
  courseTitle: field(z.string(), 'Title of the course'),
  difficulty: field(Difficulty, 'Level of the course'),
  enrollmentStatus: field(EnrollmentStatus, 'Status of the enrolment'),
  enrolledAt: field(Time, 'When the learner was enrolled'),
  progressStatus: field(ProgressStatus, 'Status of the progress; not_started without any'),
  completionPercentage: field(Percent, 'Percentage of the course that is completed, 0–100'),
  startedAt: timeOrNull('When the learner first accessed the course; null before that'),
  lastAccessed: timeOrNull('When the learner last accessed the course; null if never'),
  completedAt: timeOrNull('When the learner first reached the completion threshold; null before that'),
  gradePercent: field(
    z.number().nullable(),
    'Grade of the learner in the course as a percentage, above 100 if scores exceed their maximum; null without a grade',
  ),
  passed: field(
    z.boolean().nullable(),
    'Whether the grade reaches the passing score of the course; null without a grade',
  ),
  gradeUpdatedAt: timeOrNull('When the newest of the grades that it comes from was graded; null without one'),
  courseExternalId: textOrNull('The school’s own id of the course; null without one'),
}
export const LearnerRow = named(
  'LearnerRow',
  'One learner in one course; the CSV has the same columns, in this order',
  shown(() => learnerFields),
)
export type LearnerRow = z.output<typeof LearnerRow>
