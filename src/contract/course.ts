import * as z from 'zod'
import { CourseStatus, Difficulty, MoveOn } from './course-attributes.ts'
import { Time } from './field.ts'
import { Changes, versionEntry } from './history.ts'
import { deletedEntry } from './trash.ts'

/** A course. */
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
  ...versionEntry,
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
  changes: Changes,
})
export type CourseDiff = z.output<typeof CourseDiff>

/** A deleted course that can be restored, with how much goes with it. */
export const DeletedCourse = z.object({
  id: z.string(),
  externalId: z.string().nullable(),
  title: z.string(),
  status: CourseStatus,
  lessons: z.int(),
  enrollments: z.int(),
  progress: z.int(),
  grades: z.int(),
  ...deletedEntry,
})
export type DeletedCourse = z.output<typeof DeletedCourse>
