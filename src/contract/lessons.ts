import * as z from 'zod'
import {
  ExternalId,
  exactly,
  Instant,
  ManagedBy,
  Minutes,
  Objectives,
  ofCourse,
  optional,
  Percent,
  Reference,
  Time,
  text,
  WebAddress,
} from './field.ts'
import { everyone, operation, teachers } from './operation.ts'
import { page, paging, sorting } from './page.ts'
import { patchOf } from './patch.ts'

const lessonStatuses = ['draft', 'published'] as const
export const LessonStatus = z.enum(lessonStatuses)

const blockTypes = [
  'markdown',
  'text',
  'html',
  'code',
  'video',
  'audio',
  'image',
  'file',
  'link',
  'embed',
] as const
const written: readonly string[] = ['markdown', 'text', 'html', 'code']

const ContentBlock = z
  .strictObject({
    id: z.string().optional(),
    type: z.enum(blockTypes),
    title: optional(z.string().max(255)),
    body: optional(z.string().max(500_000)),
    url: optional(WebAddress),
    language: optional(z.string().max(50)),
    durationSeconds: optional(z.int().min(0)),
    altText: optional(z.string().max(1000)),
  })
  .superRefine((block, context) => {
    const needed = written.includes(block.type) ? 'body' : 'url'
    if (block[needed] !== null) return
    context.addIssue({
      code: 'custom',
      path: [needed],
      params: { code: 'required' },
      message: `is required for a block of type ${block.type}`,
    })
  })

const Question = z.strictObject({
  id: z.string().optional(),
  type: z.enum(['single_choice', 'multiple_choice', 'true_false', 'short_answer', 'numeric', 'essay']),
  prompt: text(1, 10_000),
  choices: z
    .array(z.strictObject({ id: z.string().min(1).max(100), text: text(1, 2000) }))
    .max(100)
    .default([]),
  answer: z
    .union(
      [z.string(), z.number(), z.boolean(), z.array(z.string()).max(100), z.null()],
      'must be a string, a number, a boolean, null or an array of strings',
    )
    .default(null)
    .meta({ description: 'Never shown to learners' }),
  points: z.number().min(0).default(1),
})

const Assessment = z.strictObject({
  id: z.string().optional(),
  type: z.enum(['quiz', 'assignment', 'exam', 'survey']),
  title: text(1, 255),
  scoreMaximum: z.number().positive().default(100),
  passingScore: optional(z.number().min(0)),
  weight: optional(Percent),
  attemptsAllowed: optional(z.int().min(1)),
  dueAt: optional(Instant),
  questions: z.array(Question).max(500).default([]),
})

/** The writable attributes of a lesson. */
export const LessonInput = z.strictObject({
  externalId: ExternalId,
  courseId: Reference,
  moduleId: optional(z.string().min(1).max(100)),
  title: text(1, 255),
  description: z.string().max(10_000).default(''),
  order: z.int().min(1).max(100_000).optional().meta({
    description:
      'Position in the course (default after the last lesson); a taken position moves the lessons after it',
  }),
  durationMinutes: optional(Minutes),
  status: LessonStatus.default('published'),
  learningObjectives: Objectives,
  contentBlocks: z.array(ContentBlock).max(1000).default([]),
  assessments: z.array(Assessment).max(100).default([]),
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
  contentBlocks: z.array(z.record(z.string(), z.unknown())),
  assessments: z.array(z.record(z.string(), z.unknown())),
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
