import { recordWords, type Words } from './record.ts'

const attributes = {
  learnerId: 'Learner: id, ext:<externalId> or email:<address>; responses have the id',
  courseId: 'Course: id or ext:<externalId>; responses have the id',
  itemId:
    'What was graded, such as an exam; $course is the course as a whole, whose grade replaces the mean of the items',
  source: 'Where the grade comes from: manual, or a system that sends grades',
  label: 'Name of the item',
  scoreGiven:
    'Score of the learner, which may be up to 100 times the maximum; null clears the grade, so that it counts no longer and an older one does not return',
  scoreMaximum: 'Score that counts as 100%',
  weight:
    'Weight of the item in the grade of the course; null for the weight that the assessment criteria give to its id or name, or equal weights',
  published: 'Whether the learner sees the grade and it counts',
  gradedAt: 'When it was graded (default now)',
} satisfies Words

export const gradeInputWords = {
  ...attributes,
  '': 'A grade. Learner, course, source and item identify it. An absent label, maximum, weight or publication stays as it is; for a first grade, label and weight are those of the item’s other grades, if there are any. null sets the default',
  source:
    'Where the grade comes from: manual, or a system that sends grades (default the source of the stored grade of this item, else manual; required if several sources have one)',
  label: 'Name of the item (default empty)',
  scoreMaximum: 'Score that counts as 100% (default 100)',
  published: 'Whether the learner sees the grade and it counts (default true)',
  extraCredit:
    'Whether the score may exceed the maximum; false refuses such a score with above_maximum (default true). Not stored',
} satisfies Words

export const gradeWords = {
  ...attributes,
  '': 'A grade of a learner in a course',
  id: 'Id of the grade, grd_…',
  userEmail: 'E-mail address of the learner as it is now',
  userExternalId: 'The school’s own id of the learner, as it is now',
  courseTitle: 'Title of the course as it is now',
  courseExternalId: 'The school’s own id of the course, as it is now',
  percent: 'Score in per cent of the maximum, above 100 where it exceeds that; null without a score',
  gradedAt: 'When it was graded',
  deliveryId: 'Id of the webhook delivery that it came with, whd_…; null for any other grade',
  version: recordWords.version,
  createdAt: recordWords.createdAt,
  updatedAt: recordWords.updatedAt,
} satisfies Words

export const recordedGradeWords = {
  ...gradeWords,
  '': 'A grade as it was recorded',
  warnings: 'What may not be as intended; absent if there is nothing',
  'warnings.code': 'unweighted: the item has no weight, while other items of the learner have one',
  'warnings.detail': 'The warning, as a sentence',
} satisfies Words

export const gradeStepWords = {
  '': 'One entry of the history of a grade',
  gradeId: 'Id of the grade',
  version: 'Version of the grade that this entry made',
  scoreGiven: attributes.scoreGiven,
  scoreMaximum: attributes.scoreMaximum,
  published: attributes.published,
  gradedAt: 'When it was graded',
  deliveryId: 'Id of the webhook delivery that it came with, whd_…; null for any other entry',
  recordedAt: 'When the entry was recorded',
  recordedBy: 'Id of the user whose credential recorded it; webhook:<kind> where a webhook delivery did',
  recordedByEmail: 'E-mail address of that user as it is now; null where a webhook delivery did',
} satisfies Words
