import * as z from 'zod'
import {
  ExternalId,
  exactly,
  ManagedBy,
  Minutes,
  Objectives,
  ofCourse,
  optional,
  Reference,
  Time,
  text,
} from './field.ts'
import { Assessment, AssessmentInput, ContentBlock, ContentBlockInput } from './lesson-content.ts'
import { everyone, operation, teachers } from './operation.ts'
import { page, paging, sorting } from './page.ts'
import { patchOf } from './patch.ts'

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
      course_id: ofCourse,
      module_id: exactly('module id'),
      status: LessonStatus.optional().meta({ description: 'Filter by status' }),
      external_id: exactly('external id'),
      sort: sorting(['order', 'createdAt', 'updatedAt', 'title'], 'order'),
      ...paging,
    }),
    response: page(Lesson),
    status: 200,
    list: true,
    filters: {
      course_id: { by: 'reference', field: 'courseId', to: 'courseId' },
      module_id: { by: 'equal', field: 'moduleId' },
      status: { by: 'choice', field: 'status', choices: LessonStatus.options },
      external_id: { by: 'equal', field: 'externalId' },
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
    response: null,
    status: 204,
  }),
}
