import { deletedWords, diffWords, recordWords, versionWords, type Words } from './record.ts'

const attributes = {
  externalId: recordWords.externalId,
  title: 'Title of the course',
  description: 'What the course is about',
  difficulty: 'Level of the course, from beginner to expert',
  learningObjectives: 'What learners will be able to do after the course',
  modules: 'Parts of the course, which group its lessons',
  'modules.id': 'Id of the module, assigned by the server; send it back to keep the module',
  'modules.title': 'Title of the module',
  'modules.description': 'What the module is about',
  'modules.order': 'Position in the course, from 1 (default as listed)',
  assessmentCriteria: 'How learners are assessed',
  'assessmentCriteria.passingScore': 'Grade needed to pass the course, 0–100',
  'assessmentCriteria.moveOn':
    'What completes an enrolment: completed progress, a passing grade, both, either, or neither (cmi5 §10.2.3)',
  'assessmentCriteria.weights': 'Share of each kind of assessment in the grade; together at most 100',
  'assessmentCriteria.weights.name': 'Kind of assessment, such as Exam',
  'assessmentCriteria.weights.weight': 'Share of the grade, 0–100',
  adaptiveDifficulty:
    'How the difficulty adapts to the scores of a learner; stored here, applied by the system that delivers the course',
  'adaptiveDifficulty.enabled': 'Whether the difficulty adapts',
  'adaptiveDifficulty.minLevel': 'Lowest level; null for no limit',
  'adaptiveDifficulty.maxLevel': 'Highest level; null for no limit',
  'adaptiveDifficulty.raiseAtScore': 'Score at which the difficulty rises, 0–100',
  'adaptiveDifficulty.lowerAtScore': 'Score below which the difficulty falls, 0–100; below raiseAtScore',
  'adaptiveDifficulty.window': 'Number of recent scores considered',
  progressTracking: 'How progress is recorded',
  'progressTracking.enabled': 'Whether progress can be recorded',
  'progressTracking.completionThreshold': 'Completion percentage at which progress counts as completed',
  tags: 'Keywords to find the course by',
  language: 'Language of the course, as a BCP 47 tag such as en or pt-BR',
  durationMinutes: 'Duration of the course, in minutes',
  managedBy: recordWords.managedBy,
  status:
    'draft, published or archived: learners see published courses; an archived course cannot be changed until it is published again',
} satisfies Words

export const courseWords = {
  '': 'A course',
  id: 'Id of the course, crs_…',
  ...attributes,
  version: recordWords.version,
  createdAt: recordWords.createdAt,
  updatedAt: recordWords.updatedAt,
  publishedAt: 'When the course was last published; null if it never was',
  archivedAt: 'When the course was archived; null if it is not',
} satisfies Words

export const courseInputWords = { ...attributes, '': 'The attributes of a new course' } satisfies Words

export const coursePatchWords = {
  ...attributes,
  '': 'A merge patch of a course (RFC 7396): absent attributes are left unchanged, null resets one to its default, lists are replaced',
} satisfies Words

export const courseUpdateWords = {
  '': 'What an update changed, and the updated course',
  id: courseWords.id,
  version: 'Version of the course after the update',
  previousVersion: 'Version before the update; the same if nothing changed',
  updatedAt: recordWords.updatedAt,
  modifiedAttributes: 'Names of the attributes that the update changed',
  course: 'The updated course',
} satisfies Words

export const courseVersionWords = {
  '': 'One version of a course',
  courseId: courseWords.id,
  ...versionWords,
} satisfies Words

export const courseDiffWords = {
  '': 'What differs between two versions of a course',
  courseId: courseWords.id,
  ...diffWords,
} satisfies Words

export const deletedCourseWords = {
  '': 'A deleted course, with how much was deleted with it',
  id: courseWords.id,
  externalId: 'Your own id for the course; it stays taken until the course is deleted permanently',
  title: 'Title of the course',
  status: 'Status of the course when it was deleted',
  lessons: 'Number of lessons that were deleted with the course',
  enrollments: 'Number of enrolments that were deleted with the course',
  progress: 'Number of progress records that were deleted with the course',
  grades: 'Number of grades that were deleted with the course',
  ...deletedWords,
} satisfies Words
