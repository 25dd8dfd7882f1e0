import * as z from 'zod'
import { answered, field, named, patchOf, sent, shown } from './fields.ts'
import { Assessment, AssessmentInput, ContentBlockInput } from './lesson-content.ts'
import {
  erase,
  exactly,
  listOf,
  ofCourse,
  ofCourses,
  oneOf,
  paging,
  period,
  periodAndUpdates,
  sorting,
  trashSort,
} from './lists.ts'
import { everyone, operationsOf, staff, teachers } from './operation.ts'
import {
  CompareTo,
  changed,
  deletedFields,
  diffFields,
  externalId,
  managedBy,
  takenExternalId,
  textOrNull,
  versionFields,
} from './record-fields.ts'
import { Instant, Minutes, Objectives, optional, Reference, text } from './values.ts'

const lessonStatuses = ['draft', 'published'] as const
export const LessonStatus = named('LessonStatus', 'Whether learners can see a lesson', z.enum(lessonStatuses))

const attributes = {
  externalId: externalId('lesson'),
  courseId: field(
    Reference,
    'Course of the lesson: id or ext:<externalId>; responses have the id',
    'Course: id or external id',
  ),
  moduleId: field(
    optional(z.string().min(1).max(100)),
    'Id of the module of that course which the lesson belongs to; null for none',
    'Id of the course module',
  ),
  title: field(text(1, 255), 'Title of the lesson', 'Title'),
  description: field(z.string().max(10_000).default(''), 'What the lesson is about', 'Description'),
  order: field(
    z.int().min(1).max(100_000).optional(),
    'Position in the course, from 1 (default after the last lesson); if it is taken, the lessons from there on move down',
    'Position in the course',
  ),
  durationMinutes: field(optional(Minutes), 'Duration of the lesson, in minutes', 'Duration in minutes'),
  dueAt: field(
    optional(Instant),
    'When the lesson is due; null for never. Calendars show it',
    'When it is due: a time, a day, a duration such as 2w, or never',
  ),
  status: field(
    LessonStatus.default('published'),
    'draft or published: learners see published lessons of published courses',
    'Status',
  ),
  learningObjectives: field(
    Objectives,
    'What learners will be able to do after the lesson',
    'Learning objective',
  ),
  contentBlocks: field(
    z.array(ContentBlockInput).max(1000).default([]),
    'Content of the lesson, in order',
    'Content',
  ),
  assessments: field(
    z.array(AssessmentInput).max(100).default([]),
    'Quizzes, assignments, exams and surveys of the lesson',
    'Assessments',
  ),
  managedBy,
}

export const LessonInput = named('LessonInput', 'The attributes of a new lesson', sent(attributes))
export type LessonInput = z.output<typeof LessonInput>

export const LessonPatch = named(
  'LessonPatch',
  'A merge patch of a lesson (RFC 7396): absent attributes are left unchanged, null resets one to its default, lists are replaced',
  patchOf(LessonInput),
)

const id = field(z.string(), 'Id of the lesson, les_…')

/** Learners do not get the answers of questions. */
function shownFields() {
  return {
    ...answered(attributes),
    assessments: field(z.array(Assessment).max(100), attributes.assessments.says),
  }
}

export const Lesson = named(
  'Lesson',
  'A lesson of a course',
  shown(() => {
    const { externalId, courseId, ...others } = shownFields()
    return {
      id,
      externalId,
      courseId,
      courseTitle: field(z.string(), 'Title of the course as it is now, whatever the version of the lesson'),
      ...others,
      ...changed,
    }
  }),
)
export type Lesson = z.output<typeof Lesson>

/** Versions from earlier releases have no known author. */
const versionOfLesson = {
  lessonId: id,
  ...versionFields,
  userId: textOrNull('User who made the version; null for one that was made before lessons had a history'),
  userEmail: textOrNull('E-mail address of that user as it is now; null where it is not known who it was'),
}
export const LessonVersion = named(
  'LessonVersion',
  'One version of a lesson',
  shown(() => versionOfLesson),
)
export type LessonVersion = z.output<typeof LessonVersion>

export const LessonSnapshot = named(
  'LessonSnapshot',
  'One version of a lesson, with the attributes that the lesson had then',
  shown(() => ({
    ...versionOfLesson,
    attributes: field(shown(shownFields), 'The attributes of the lesson in that version'),
  })),
)
export type LessonSnapshot = z.output<typeof LessonSnapshot>

export const LessonDiff = named(
  'LessonDiff',
  'What differs between two versions of a lesson',
  shown(() => ({ lessonId: id, ...diffFields('/contentBlocks') })),
)
export type LessonDiff = z.output<typeof LessonDiff>

export const DeletedLesson = named(
  'DeletedLesson',
  'A deleted lesson',
  shown(() => {
    const { externalId, courseId, title, order, status } = answered(attributes)
    return {
      id,
      externalId: takenExternalId(externalId, 'lesson'),
      courseId: { ...courseId, says: 'Id of the course, crs_…' },
      title,
      order: { ...order, says: 'Position in the course, to which the lesson returns when it is restored' },
      status: { ...status, says: 'Status of the lesson when it was deleted' },
      ...deletedFields,
    }
  }),
)
export type DeletedLesson = z.output<typeof DeletedLesson>

/** Learners see the published ones of published courses. */
export const lessons = operationsOf('lessons', {
  list: {
    at: 'GET /v1/lessons',
    summary: 'List lessons',
    roles: everyone,
    query: z.strictObject({
      course_id: ofCourses,
      module_id: exactly('module id', 'moduleId'),
      status: oneOf('status', LessonStatus, LessonStatus.options),
      external_id: exactly('external id', 'externalId'),
      ...periodAndUpdates('Created', 'createdAt'),
      sort: sorting(['order', 'createdAt', 'updatedAt', 'title'], 'order'),
      ...paging,
    }),
    ...listOf(Lesson, 'lessons'),
  },
  get: {
    at: 'GET /v1/lessons/{lessonId}',
    summary: 'Show a lesson',
    roles: everyone,
    response: Lesson,
  },
  create: {
    at: 'POST /v1/lessons',
    summary: 'Create a lesson',
    published: true,
    roles: teachers,
    body: LessonInput,
    response: Lesson,
  },
  update: {
    at: 'PUT /v1/lessons/{lessonId}',
    summary: 'Update a lesson',
    roles: teachers,
    body: LessonPatch,
    merge: true,
    response: Lesson,
  },
  delete: {
    at: 'DELETE /v1/lessons/{lessonId}',
    summary: 'Delete a lesson',
    roles: teachers,
    query: z.strictObject({ erase }),
    elevatedBy: ['erase'],
    response: null,
  },
  versions: {
    at: 'GET /v1/lessons/{lessonId}/versions',
    summary: 'List the versions of a lesson, newest first',
    roles: staff,
    query: z.strictObject({ ...period('Created', 'createdAt'), ...paging }),
    ...listOf(LessonVersion, 'versions of a lesson'),
  },
  version: {
    at: 'GET /v1/lessons/{lessonId}/versions/{version}',
    summary: 'Show one version of a lesson',
    roles: staff,
    response: LessonSnapshot,
  },
  diff: {
    at: 'GET /v1/lessons/{lessonId}/versions/{version}/diff',
    summary: 'Compare two versions of a lesson',
    roles: staff,
    query: z.strictObject({ to: CompareTo }),
    response: LessonDiff,
  },
  restore: {
    at: 'POST /v1/lessons/{lessonId}/versions/{version}/restore',
    summary: 'Restore an earlier version of a lesson as a new version',
    roles: teachers,
    response: Lesson,
  },
  listDeleted: {
    at: 'GET /v1/deleted-lessons',
    summary: 'List deleted lessons that can be restored',
    roles: teachers,
    query: z.strictObject({
      course_id: ofCourse,
      ...period('Deleted', 'deletedAt'),
      sort: trashSort,
      ...paging,
    }),
    ...listOf(DeletedLesson, 'deleted lessons'),
  },
  restoreDeleted: {
    at: 'POST /v1/deleted-lessons/{deletedLessonId}/restore',
    summary: 'Restore a deleted lesson at its place in the course',
    roles: teachers,
    response: Lesson,
    status: 200,
  },
})
