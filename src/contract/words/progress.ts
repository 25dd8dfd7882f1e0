import type { Words } from './record.ts'

const learnerId = 'Learner: id, ext:<externalId> or email:<address>; responses have the id'
const status = 'not_started at 0, completed from the completion threshold of the course, in_progress between'

export const progressInputWords = {
  '': 'The progress of a learner in a course, always as a whole',
  courseId: 'Course: id or ext:<externalId>; responses have the id',
  completionPercentage: 'Percentage of the course that is completed, 0–100; a number, not text',
  lastAccessed: 'When the learner last accessed the course (default now)',
} satisfies Words

export const progressItemWords = {
  ...progressInputWords,
  '': 'The progress of one learner in one course',
  learnerId,
} satisfies Words

export const progressWords = {
  ...progressInputWords,
  '': 'The progress of a learner in a course',
  learnerId,
  userExternalId: 'The school’s own id of the learner, as it is now',
  courseExternalId: 'The school’s own id of the course, as it is now',
  userEmail: 'E-mail address of the learner as it is now, whatever the version of the progress',
  courseTitle: 'Title of the course as it is now, whatever the version of the progress',
  lastAccessed: 'When the learner last accessed the course',
  status,
  startedAt: 'When the learner first accessed the course; null before that',
  completedAt: 'When the learner first reached the completion threshold; kept if progress falls again',
  version: 'Number of changes of this record, from 1; also the ETag of the response',
  updatedAt: 'When the record was last changed',
} satisfies Words

export const progressStepWords = {
  '': 'One entry of the progress history of a learner in a course',
  learnerId: progressWords.learnerId,
  userEmail: 'E-mail address of the learner as it is now',
  userExternalId: progressWords.userExternalId,
  courseId: progressWords.courseId,
  courseTitle: 'Title of the course as it is now',
  courseExternalId: progressWords.courseExternalId,
  version: 'Version of the progress that this entry made',
  completionPercentage: progressWords.completionPercentage,
  status,
  lastAccessed: progressWords.lastAccessed,
  recordedAt: 'When the entry was recorded',
} satisfies Words
