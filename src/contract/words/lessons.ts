import { deletedWords, diffWords, recordWords, versionWords, type Words } from './record.ts'

const attributes = {
  externalId: recordWords.externalId,
  courseId: 'Course of the lesson: id or ext:<externalId>; responses have the id',
  moduleId: 'Id of the module of that course which the lesson belongs to; null for none',
  title: 'Title of the lesson',
  description: 'What the lesson is about',
  order:
    'Position in the course, from 1 (default after the last lesson); if it is taken, the lessons from there on move down',
  durationMinutes: 'Duration of the lesson, in minutes',
  status: 'draft or published: learners see published lessons of published courses',
  learningObjectives: 'What learners will be able to do after the lesson',
  contentBlocks: 'Content of the lesson, in order',
  'contentBlocks.id': 'Id of the block, assigned by the server; send it back to keep the block',
  'contentBlocks.type': 'Kind of content: markdown, text, html and code have a body, all others a url',
  'contentBlocks.title': 'Heading of the block',
  'contentBlocks.body': 'The content as text; required for markdown, text, html and code',
  'contentBlocks.url': 'Where the content is, http or https; required for all other types',
  'contentBlocks.language': 'Programming language of code, or language of the content',
  'contentBlocks.durationSeconds': 'Length of video or audio, in seconds',
  'contentBlocks.altText': 'Text alternative for those who cannot see or hear the content',
  assessments: 'Quizzes, assignments, exams and surveys of the lesson',
  'assessments.id': 'Id of the assessment, assigned by the server; send it back to keep the assessment',
  'assessments.type': 'Kind of assessment',
  'assessments.title': 'Title of the assessment',
  'assessments.scoreMaximum': 'Highest score, above 0',
  'assessments.passingScore': 'Score needed to pass, up to scoreMaximum; null for none',
  'assessments.weight': 'Share of the grade of the course, 0–100; null for none',
  'assessments.attemptsAllowed': 'Maximum number of attempts; null for any number',
  'assessments.dueAt': 'Due time; null for none',
  'assessments.questions': 'Questions, in order',
  'assessments.questions.id': 'Id of the question, assigned by the server; send it back to keep the question',
  'assessments.questions.type': 'Kind of question',
  'assessments.questions.prompt': 'Text of the question',
  'assessments.questions.choices': 'Answers to choose from',
  'assessments.questions.choices.id': 'Your id for the choice, such as a',
  'assessments.questions.choices.text': 'Text of the choice',
  'assessments.questions.answer':
    'Correct answer: text, a number, true or false, or a list of choice ids; never shown to learners',
  'assessments.questions.points': 'Points for the correct answer',
  managedBy: recordWords.managedBy,
} satisfies Words

export const lessonWords = {
  '': 'A lesson of a course',
  id: 'Id of the lesson, les_…',
  ...attributes,
  courseTitle: 'Title of the course as it is now, whatever the version of the lesson',
  version: recordWords.version,
  createdAt: recordWords.createdAt,
  updatedAt: recordWords.updatedAt,
} satisfies Words

export const lessonInputWords = { ...attributes, '': 'The attributes of a new lesson' } satisfies Words

export const lessonPatchWords = {
  ...attributes,
  '': 'A merge patch of a lesson (RFC 7396): absent attributes are left unchanged, null resets one to its default, lists are replaced',
} satisfies Words

export const lessonVersionWords = {
  '': 'One version of a lesson',
  lessonId: lessonWords.id,
  ...versionWords,
  userId: 'User who made the version; null for one that was made before lessons had a history',
  userEmail: 'E-mail address of that user as it is now; null where it is not known who it was',
} satisfies Words

export const lessonDiffWords = {
  '': 'What differs between two versions of a lesson',
  lessonId: lessonWords.id,
  ...diffWords,
  'changes.pointer': 'JSON Pointer (RFC 6901) into the attributes, such as /contentBlocks',
} satisfies Words

export const deletedLessonWords = {
  '': 'A deleted lesson',
  id: lessonWords.id,
  externalId: 'Your own id for the lesson; it stays taken until the lesson is deleted permanently',
  courseId: 'Id of the course, crs_…',
  title: 'Title of the lesson',
  order: 'Position in the course, to which the lesson returns when it is restored',
  status: 'Status of the lesson when it was deleted',
  ...deletedWords,
} satisfies Words
