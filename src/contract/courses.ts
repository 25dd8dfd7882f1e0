import * as z from 'zod'
import { courseStatuses, difficulties } from './constants.ts'
import {
  AdaptiveDifficulty,
  AssessmentCriteria,
  Difficulty,
  Module,
  ProgressTracking,
} from './course-parts.ts'
import { answered, field, named, patchOf, sent, shown } from './fields.ts'
import {
  BooleanParam,
  choiceOf,
  erase,
  exactly,
  filtering,
  listOf,
  ofTerms,
  paging,
  period,
  periodAndUpdates,
  search,
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
  timeOrNull,
  updatedAt,
  versionFields,
} from './record-fields.ts'
import { Language, Minutes, Objectives, optional, Reference, text } from './values.ts'

export const CourseStatus = named(
  'CourseStatus',
  'Status of a course: draft, published or archived',
  z.enum(courseStatuses),
)

const attributes = {
  externalId: externalId('course'),
  title: field(text(1, 255), 'Title of the course', 'Title'),
  description: field(z.string().max(10_000).default(''), 'What the course is about', 'Description'),
  difficulty: field(
    Difficulty.default('beginner'),
    'Level of the course, from beginner to expert',
    'Difficulty',
  ),
  learningObjectives: field(
    Objectives,
    'What learners will be able to do after the course',
    'Learning objective',
  ),
  modules: field(
    z.array(Module).max(1000).default([]),
    'Parts of the course, which group its lessons',
    'Modules',
  ),
  assessmentCriteria: field(AssessmentCriteria.prefault({}), 'How learners are assessed'),
  adaptiveDifficulty: field(
    AdaptiveDifficulty.prefault({}),
    'How the difficulty adapts to the scores of a learner; stored here, applied by the system that delivers the course',
  ),
  progressTracking: field(ProgressTracking.prefault({}), 'How progress is recorded'),
  tags: field(z.array(text(1, 100)).max(100).default([]), 'Keywords to find the course by', 'Tags'),
  language: field(
    optional(Language),
    'Language of the course, as a BCP 47 tag such as en or pt-BR',
    'Language, such as en or pt-BR',
  ),
  durationMinutes: field(optional(Minutes), 'Duration of the course, in minutes', 'Duration in minutes'),
  termId: field(
    optional(Reference),
    'Term that the course belongs to: id, ext:<externalId> or a name that no other term has; responses have the id, null without a term',
    'Term: id, external id or name',
  ),
  managedBy,
  status: field(
    CourseStatus.default('draft'),
    'draft, published or archived: learners see published courses; an archived course cannot be changed until it is published again',
    'Status',
  ),
}

export const CourseInput = named('CourseInput', 'The attributes of a new course', sent(attributes))
export type CourseInput = z.output<typeof CourseInput>

export const CoursePatch = named(
  'CoursePatch',
  'A merge patch of a course (RFC 7396): absent attributes are left unchanged, null resets one to its default, lists are replaced',
  patchOf(CourseInput),
)

const id = field(z.string(), 'Id of the course, crs_…')

export const Course = named(
  'Course',
  'A course',
  shown(() => ({
    id,
    ...answered(attributes),
    termName: textOrNull('Name of the term as it is now, whatever the version of the course'),
    termExternalId: textOrNull('The school’s own id of the term, as it is now'),
    ...changed,
    publishedAt: timeOrNull('When the course was last published; null if it never was'),
    archivedAt: timeOrNull('When the course was archived; null if it is not'),
    createdBy: textOrNull('Id of the user who created the course; null if that is not known'),
  })),
)
export type Course = z.output<typeof Course>

const Warning = shown(() => ({
  code: field(
    z.enum(['no_item', 'unweighted']),
    'no_item: a weight names no item that has grades; unweighted: a graded item has no weight, while others have one',
  ),
  detail: field(z.string(), 'The warning, as a sentence, with the number of learners that it concerns'),
}))

/** The fields of the published interface about the new version, and the whole course. */
export const CourseUpdate = named(
  'CourseUpdate',
  'What an update changed, and the updated course',
  shown(() => ({
    id,
    version: field(z.int(), 'Version of the course after the update'),
    previousVersion: field(z.int(), 'Version before the update; the same if nothing changed'),
    updatedAt,
    modifiedAttributes: field(z.array(z.string()), 'Names of the attributes that the update changed'),
    course: field(Course, 'The updated course'),
    warnings: field(
      z.array(Warning).max(150).optional(),
      'What may not be as intended in changed weights; absent if there is nothing',
    ),
  })),
)
export type CourseUpdate = z.output<typeof CourseUpdate>

export const CourseVersion = named(
  'CourseVersion',
  'One version of a course',
  shown(() => ({ courseId: id, ...versionFields })),
)
export type CourseVersion = z.output<typeof CourseVersion>

export const CourseSnapshot = named(
  'CourseSnapshot',
  'One version of a course, with the attributes that the course had then',
  shown(() => ({
    courseId: id,
    ...versionFields,
    attributes: field(
      shown(() => answered(attributes)),
      'The attributes of the course in that version',
    ),
  })),
)
export type CourseSnapshot = z.output<typeof CourseSnapshot>

/** One entry per changed path; a changed array is one entry. */
export const CourseDiff = named(
  'CourseDiff',
  'What differs between two versions of a course',
  shown(() => ({ courseId: id, ...diffFields('/assessmentCriteria/passingScore') })),
)
export type CourseDiff = z.output<typeof CourseDiff>

/** It can be restored; the counts are of the records deleted with it. */
export const DeletedCourse = named(
  'DeletedCourse',
  'A deleted course, with how much was deleted with it',
  shown(() => {
    const { externalId, title, status } = answered(attributes)
    return {
      id,
      externalId: takenExternalId(externalId, 'course'),
      title,
      status: { ...status, says: 'Status of the course when it was deleted' },
      lessons: field(z.int(), 'Number of lessons that were deleted with the course'),
      enrollments: field(z.int(), 'Number of enrolments that were deleted with the course'),
      progress: field(z.int(), 'Number of progress records that were deleted with the course'),
      grades: field(z.int(), 'Number of grades that were deleted with the course'),
      groups: field(z.int(), 'Number of groups that were deleted with the course'),
      ...deletedFields,
    }
  }),
)
export type DeletedCourse = z.output<typeof DeletedCourse>

export const courses = operationsOf('courses', {
  list: {
    at: 'GET /v1/courses',
    summary: 'List courses',
    published: true,
    roles: everyone,
    query: z.strictObject({
      status: choiceOf('status', courseStatuses),
      difficulty: choiceOf('difficulty', difficulties),
      q: search('title and description', ['title', 'description']),
      tag: exactly('tag', 'tags'),
      term_id: filtering(ofTerms, {
        by: 'reference',
        field: 'termId',
        to: 'termId',
        ext: 'termExternalId',
        several: true,
      }),
      external_id: exactly('external id', 'externalId'),
      managed_by: exactly('the system that manages them', 'managedBy'),
      ...periodAndUpdates('Created', 'createdAt'),
      sort: sorting(['createdAt', 'updatedAt', 'title', 'difficulty'], '-createdAt'),
      ...paging,
    }),
    ...listOf(Course, 'courses'),
  },
  get: {
    at: 'GET /v1/courses/{courseId}',
    summary: 'Show a course',
    roles: everyone,
    response: Course,
  },
  create: {
    at: 'POST /v1/courses',
    summary: 'Create a course',
    published: true,
    roles: teachers,
    body: CourseInput,
    response: Course,
  },
  update: {
    at: 'PUT /v1/courses/{courseId}',
    summary: 'Update a course',
    published: true,
    roles: teachers,
    body: CoursePatch,
    merge: true,
    response: CourseUpdate,
  },
  delete: {
    at: 'DELETE /v1/courses/{courseId}',
    summary: 'Delete a course',
    roles: teachers,
    query: z.strictObject({
      force: BooleanParam.default(false).meta({
        description:
          'Also delete the lessons, enrolments, progress and grades of the course; requires an admin (default false)',
      }),
      erase,
    }),
    elevatedBy: ['force', 'erase'],
    response: null,
  },
  versions: {
    at: 'GET /v1/courses/{courseId}/versions',
    summary: 'List the versions of a course, newest first',
    roles: staff,
    query: z.strictObject({ ...period('Created', 'createdAt'), ...paging }),
    ...listOf(CourseVersion, 'versions of a course'),
  },
  version: {
    at: 'GET /v1/courses/{courseId}/versions/{version}',
    summary: 'Show one version of a course',
    roles: staff,
    response: CourseSnapshot,
  },
  diff: {
    at: 'GET /v1/courses/{courseId}/versions/{version}/diff',
    summary: 'Compare two versions of a course',
    roles: staff,
    query: z.strictObject({ to: CompareTo }),
    response: CourseDiff,
  },
  restore: {
    at: 'POST /v1/courses/{courseId}/versions/{version}/restore',
    summary: 'Restore an earlier version of a course as a new version',
    roles: teachers,
    response: CourseUpdate,
  },
  listDeleted: {
    at: 'GET /v1/deleted-courses',
    summary: 'List deleted courses that can be restored',
    roles: teachers,
    query: z.strictObject({ ...period('Deleted', 'deletedAt'), sort: trashSort, ...paging }),
    ...listOf(DeletedCourse, 'deleted courses'),
  },
  restoreDeleted: {
    at: 'POST /v1/deleted-courses/{deletedCourseId}/restore',
    summary: 'Restore a deleted course',
    roles: teachers,
    response: Course,
    status: 200,
  },
})
