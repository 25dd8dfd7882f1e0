import { recordWords, type Words } from './record.ts'

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
  version: 'Number of the version, from 1',
  createdAt: 'When the version was made',
  userId: 'User who made the version',
  modifiedAttributes: 'Names of the attributes that differ from the version before',
} satisfies Words

export const courseDiffWords = {
  '': 'What differs between two versions of a course',
  courseId: courseWords.id,
  from: 'Version on the left of the comparison',
  to: 'Version on the right of the comparison',
  changes: 'One entry for each place that differs; lists differ as a whole',
  'changes.pointer': 'JSON Pointer (RFC 6901) into the attributes, such as /assessmentCriteria/passingScore',
  'changes.from': 'Value in the version on the left; absent if it has none',
  'changes.to': 'Value in the version on the right; absent if it has none',
} satisfies Words
