import * as z from 'zod'
import { CourseInput, CoursePatch, CourseStatus, Difficulty, MoveOn } from './course-attributes.ts'
import { courseStatuses, difficulties } from './course-choices.ts'
import { BooleanParam, choices, exactly, search, Time, UpdatedSince } from './field.ts'
import { everyone, operation, staff, teachers } from './operation.ts'
import { page, paging, sorting } from './page.ts'

export const Course = z.object({
  id: z.string(),
  externalId: z.string().nullable(),
  title: z.string(),
  description: z.string(),
  difficulty: Difficulty,
  learningObjectives: z.array(z.string()),
  modules: z.array(z.object({ id: z.string(), title: z.string(), description: z.string(), order: z.int() })),
  assessmentCriteria: z.object({
    passingScore: z.number(),
    moveOn: MoveOn,
    weights: z.array(z.object({ name: z.string(), weight: z.number() })),
  }),
  adaptiveDifficulty: z.object({
    enabled: z.boolean(),
    minLevel: Difficulty.nullable(),
    maxLevel: Difficulty.nullable(),
    raiseAtScore: z.number(),
    lowerAtScore: z.number(),
    window: z.int(),
  }),
  progressTracking: z.object({ enabled: z.boolean(), completionThreshold: z.number() }),
  tags: z.array(z.string()),
  language: z.string().nullable(),
  durationMinutes: z.int().nullable(),
  managedBy: z.string().nullable(),
  status: CourseStatus,
  version: z.int(),
  createdAt: Time,
  updatedAt: Time,
  publishedAt: Time.nullable(),
  archivedAt: Time.nullable(),
})
export type Course = z.output<typeof Course>

/** The response to an update: what the published interface says of the new version, and the whole course. */
export const CourseUpdate = z.object({
  id: z.string(),
  version: z.int(),
  previousVersion: z.int(),
  updatedAt: Time,
  modifiedAttributes: z.array(z.string()),
  course: Course,
})
export type CourseUpdate = z.output<typeof CourseUpdate>

/** One entry of the version history of a course. */
export const CourseVersion = z.object({
  courseId: z.string(),
  version: z.int(),
  createdAt: Time,
  userId: z.string(),
  modifiedAttributes: z.array(z.string()),
})
export type CourseVersion = z.output<typeof CourseVersion>

/** A version with the attributes that the course had then. */
export const CourseSnapshot = CourseVersion.extend({
  attributes: Course.omit({
    id: true,
    version: true,
    createdAt: true,
    updatedAt: true,
    publishedAt: true,
    archivedAt: true,
  }),
})
export type CourseSnapshot = z.output<typeof CourseSnapshot>

/** What differs between two versions: one entry per changed place, arrays as wholes. */
export const CourseDiff = z.object({
  courseId: z.string(),
  from: z.int(),
  to: z.int(),
  changes: z.array(
    z.object({
      pointer: z.string(),
      from: z.unknown(),
      to: z.unknown(),
    }),
  ),
})
export type CourseDiff = z.output<typeof CourseDiff>

/** Courses and their versions. */
export const courses = {
  list: operation({
    id: 'courses.list',
    method: 'GET',
    path: '/v1/courses',
    summary: 'List courses',
    published: true,
    scope: 'read',
    roles: everyone,
    query: z.strictObject({
      status: choices(courseStatuses).optional(),
      difficulty: choices(difficulties).optional(),
      q: search('title and description'),
      tag: exactly('tag'),
      external_id: exactly('external id'),
      managed_by: exactly('the system that manages them'),
      updated_since: UpdatedSince,
      sort: sorting(['createdAt', 'updatedAt', 'title', 'difficulty'], '-createdAt'),
      ...paging,
    }),
    response: page(Course),
    status: 200,
    list: true,
    filters: {
      status: { by: 'choice', field: 'status', choices: courseStatuses },
      difficulty: { by: 'choice', field: 'difficulty', choices: difficulties },
      q: { by: 'search', fields: ['title', 'description'] },
      tag: { by: 'equal', field: 'tags' },
      external_id: { by: 'equal', field: 'externalId' },
      managed_by: { by: 'equal', field: 'managedBy' },
      updated_since: { by: 'start', field: 'updatedAt' },
    },
  }),
  get: operation({
    id: 'courses.get',
    method: 'GET',
    path: '/v1/courses/{courseId}',
    summary: 'Show a course',
    published: false,
    scope: 'read',
    roles: everyone,
    response: Course,
    status: 200,
  }),
  create: operation({
    id: 'courses.create',
    method: 'POST',
    path: '/v1/courses',
    summary: 'Create a course',
    published: true,
    scope: 'write',
    roles: teachers,
    body: CourseInput,
    response: Course,
    status: 201,
  }),
  update: operation({
    id: 'courses.update',
    method: 'PUT',
    path: '/v1/courses/{courseId}',
    summary: 'Update a course',
    published: true,
    scope: 'write',
    roles: teachers,
    body: CoursePatch,
    merge: true,
    response: CourseUpdate,
    status: 200,
  }),
  delete: operation({
    id: 'courses.delete',
    method: 'DELETE',
    path: '/v1/courses/{courseId}',
    summary: 'Delete a course',
    published: false,
    scope: 'write',
    roles: teachers,
    query: z.strictObject({
      force: BooleanParam.default(false).meta({
        description:
          'Also delete the lessons, enrolments, progress and grades of the course; requires an admin (default false)',
      }),
    }),
    elevatedBy: 'force',
    response: null,
    status: 204,
  }),
  versions: operation({
    id: 'courses.versions',
    method: 'GET',
    path: '/v1/courses/{courseId}/versions',
    summary: 'List the versions of a course, newest first',
    published: false,
    scope: 'read',
    roles: staff,
    query: z.strictObject({ ...paging }),
    response: page(CourseVersion),
    status: 200,
    list: true,
  }),
  version: operation({
    id: 'courses.version',
    method: 'GET',
    path: '/v1/courses/{courseId}/versions/{version}',
    summary: 'Show one version of a course',
    published: false,
    scope: 'read',
    roles: staff,
    response: CourseSnapshot,
    status: 200,
  }),
  diff: operation({
    id: 'courses.diff',
    method: 'GET',
    path: '/v1/courses/{courseId}/versions/{version}/diff',
    summary: 'Compare two versions of a course',
    published: false,
    scope: 'read',
    roles: staff,
    query: z.strictObject({
      to: z.coerce
        .number()
        .int()
        .min(1)
        .optional()
        .meta({ description: 'Version to compare with (default the newest)' }),
    }),
    response: CourseDiff,
    status: 200,
  }),
  restore: operation({
    id: 'courses.restore',
    method: 'POST',
    path: '/v1/courses/{courseId}/versions/{version}/restore',
    summary: 'Restore an earlier version of a course as a new version',
    published: false,
    scope: 'write',
    roles: teachers,
    response: CourseUpdate,
    status: 201,
  }),
}
