import * as z from 'zod'
import {
  ExternalId,
  exactly,
  ManagedBy,
  Minutes,
  Objectives,
  ofCourse,
  ofCourses,
  optional,
  period,
  Reference,
  Time,
  text,
  UpdatedSince,
} from './field.ts'
import { inPeriod, updatedSince } from './filter.ts'
import { Changes, CompareTo, versionEntry } from './history.ts'
import { Assessment, AssessmentInput, ContentBlock, ContentBlockInput } from './lesson-content.ts'
import { everyone, operation, staff, teachers } from './operation.ts'
import { page, paging, sorting } from './page.ts'
import { patchOf } from './patch.ts'
import { deletedEntry, erase, trashSort } from './trash.ts'

const lessonStatuses = ['draft', 'published'] as const
export const LessonStatus = z.enum(lessonStatuses)

/** The writable attributes of a lesson. */
export const LessonInput = z.strictObject({
  externalId: ExternalId,
  courseId: Reference,
  moduleId: optional(z.string().min(1).max(100)),
  title: text(1, 255),
  description: z.string().max(10_000).default(''),
  order: z.int().min(1).max(100_000).optional(),
  durationMinutes: optional(Minutes),
  status: LessonStatus.default('published'),
  learningObjectives: Objectives,
  contentBlocks: z.array(ContentBlockInput).max(1000).default([]),
  assessments: z.array(AssessmentInput).max(100).default([]),
  managedBy: ManagedBy,
})
export type LessonInput = z.output<typeof LessonInput>

export const LessonPatch = patchOf(LessonInput)

/** A lesson. Learners do not get the answers of its questions. */
export const Lesson = z.object({
  id: z.string(),
  externalId: z.string().nullable(),
  courseId: z.string(),
  courseTitle: z.string(),
  moduleId: z.string().nullable(),
  title: z.string(),
  description: z.string(),
  order: z.int(),
  durationMinutes: z.int().nullable(),
  status: LessonStatus,
  learningObjectives: z.array(z.string()),
  contentBlocks: z.array(ContentBlock),
  assessments: z.array(Assessment),
  managedBy: z.string().nullable(),
  version: z.int(),
  createdAt: Time,
  updatedAt: Time,
})
export type Lesson = z.output<typeof Lesson>

/** One entry of the version history of a lesson; who made those of earlier releases is not known. */
export const LessonVersion = z.object({
  lessonId: z.string(),
  ...versionEntry,
  userId: z.string().nullable(),
})
export type LessonVersion = z.output<typeof LessonVersion>

/** A version with the attributes that the lesson had then. */
export const LessonSnapshot = LessonVersion.extend({
  attributes: Lesson.omit({ id: true, courseTitle: true, version: true, createdAt: true, updatedAt: true }),
})
export type LessonSnapshot = z.output<typeof LessonSnapshot>

/** What differs between two versions. */
export const LessonDiff = z.object({
  lessonId: z.string(),
  from: z.int(),
  to: z.int(),
  changes: Changes,
})
export type LessonDiff = z.output<typeof LessonDiff>

/** A deleted lesson that can be restored. */
export const DeletedLesson = z.object({
  id: z.string(),
  externalId: z.string().nullable(),
  courseId: z.string(),
  title: z.string(),
  order: z.int(),
  status: LessonStatus,
  ...deletedEntry,
})
export type DeletedLesson = z.output<typeof DeletedLesson>

/** Lessons. Learners see the published ones of published courses. */
export const lessons = {
  list: operation({
    id: 'lessons.list',
    method: 'GET',
    path: '/v1/lessons',
    summary: 'List lessons',
    published: false,
    scope: 'read',
    roles: everyone,
    query: z.strictObject({
      course_id: ofCourses,
      module_id: exactly('module id'),
      status: LessonStatus.optional().meta({ description: 'Filter by status' }),
      external_id: exactly('external id'),
      ...period('Created'),
      updated_since: UpdatedSince,
      sort: sorting(['order', 'createdAt', 'updatedAt', 'title'], 'order'),
      ...paging,
    }),
    response: page(Lesson),
    status: 200,
    list: true,
    filters: {
      course_id: { by: 'reference', field: 'courseId', to: 'courseId', several: true },
      module_id: { by: 'equal', field: 'moduleId' },
      status: { by: 'choice', field: 'status', choices: LessonStatus.options },
      external_id: { by: 'equal', field: 'externalId' },
      ...inPeriod('createdAt'),
      updated_since: updatedSince,
    },
  }),
  get: operation({
    id: 'lessons.get',
    method: 'GET',
    path: '/v1/lessons/{lessonId}',
    summary: 'Show a lesson',
    published: false,
    scope: 'read',
    roles: everyone,
    response: Lesson,
    status: 200,
  }),
  create: operation({
    id: 'lessons.create',
    method: 'POST',
    path: '/v1/lessons',
    summary: 'Create a lesson',
    published: true,
    scope: 'write',
    roles: teachers,
    body: LessonInput,
    response: Lesson,
    status: 201,
  }),
  update: operation({
    id: 'lessons.update',
    method: 'PUT',
    path: '/v1/lessons/{lessonId}',
    summary: 'Update a lesson',
    published: false,
    scope: 'write',
    roles: teachers,
    body: LessonPatch,
    merge: true,
    response: Lesson,
    status: 200,
  }),
  delete: operation({
    id: 'lessons.delete',
    method: 'DELETE',
    path: '/v1/lessons/{lessonId}',
    summary: 'Delete a lesson',
    published: false,
    scope: 'write',
    roles: teachers,
    query: z.strictObject({ erase }),
    elevatedBy: ['erase'],
    response: null,
    status: 204,
  }),
  versions: operation({
    id: 'lessons.versions',
    method: 'GET',
    path: '/v1/lessons/{lessonId}/versions',
    summary: 'List the versions of a lesson, newest first',
    published: false,
    scope: 'read',
    roles: staff,
    query: z.strictObject({ ...period('Created'), ...paging }),
    response: page(LessonVersion),
    status: 200,
    list: true,
    filters: inPeriod('createdAt'),
  }),
  version: operation({
    id: 'lessons.version',
    method: 'GET',
    path: '/v1/lessons/{lessonId}/versions/{version}',
    summary: 'Show one version of a lesson',
    published: false,
    scope: 'read',
    roles: staff,
    response: LessonSnapshot,
    status: 200,
  }),
  diff: operation({
    id: 'lessons.diff',
    method: 'GET',
    path: '/v1/lessons/{lessonId}/versions/{version}/diff',
    summary: 'Compare two versions of a lesson',
    published: false,
    scope: 'read',
    roles: staff,
    query: z.strictObject({ to: CompareTo }),
    response: LessonDiff,
    status: 200,
  }),
  restore: operation({
    id: 'lessons.restore',
    method: 'POST',
    path: '/v1/lessons/{lessonId}/versions/{version}/restore',
    summary: 'Restore an earlier version of a lesson as a new version',
    published: false,
    scope: 'write',
    roles: teachers,
    response: Lesson,
    status: 201,
  }),
  listDeleted: operation({
    id: 'lessons.listDeleted',
    method: 'GET',
    path: '/v1/deleted-lessons',
    summary: 'List deleted lessons that can be restored',
    published: false,
    scope: 'read',
    roles: teachers,
    query: z.strictObject({ course_id: ofCourse, ...period('Deleted'), sort: trashSort, ...paging }),
    response: page(DeletedLesson),
    status: 200,
    list: true,
    filters: {
      course_id: { by: 'reference', field: 'courseId', to: 'courseId' },
      ...inPeriod('deletedAt'),
    },
  }),
  restoreDeleted: operation({
    id: 'lessons.restoreDeleted',
    method: 'POST',
    path: '/v1/deleted-lessons/{deletedLessonId}/restore',
    summary: 'Restore a deleted lesson at its place in the course',
    published: false,
    scope: 'write',
    roles: teachers,
    response: Lesson,
    status: 200,
  }),
}
