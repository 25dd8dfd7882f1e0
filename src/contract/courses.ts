import * as z from 'zod'
import {
  Course,
  CourseDiff,
  CourseInput,
  CoursePatch,
  CourseSnapshot,
  CourseUpdate,
  CourseVersion,
  DeletedCourse,
} from './course.ts'
import { courseStatuses, difficulties } from './course-choices.ts'
import { BooleanParam, choices, exactly, period, search, UpdatedSince } from './field.ts'
import { inPeriod, updatedSince } from './filter.ts'
import { CompareTo } from './history.ts'
import { everyone, operationsOf, staff, teachers } from './operation.ts'
import { page, paging, sorting } from './page.ts'
import { erase, trashSort } from './trash.ts'

export { Course, CourseDiff, CourseSnapshot, CourseUpdate, CourseVersion, DeletedCourse } from './course.ts'

/** Courses and their versions. */
export const courses = operationsOf('courses', {
  list: {
    at: 'GET /v1/courses',
    summary: 'List courses',
    published: true,
    roles: everyone,
    query: z.strictObject({
      status: choices(courseStatuses).optional(),
      difficulty: choices(difficulties).optional(),
      q: search('title and description'),
      tag: exactly('tag'),
      external_id: exactly('external id'),
      managed_by: exactly('the system that manages them'),
      ...period('Created'),
      updated_since: UpdatedSince,
      sort: sorting(['createdAt', 'updatedAt', 'title', 'difficulty'], '-createdAt'),
      ...paging,
    }),
    response: page(Course, 'courses'),
    list: true,
    filters: {
      status: { by: 'choice', field: 'status', choices: courseStatuses },
      difficulty: { by: 'choice', field: 'difficulty', choices: difficulties },
      q: { by: 'search', fields: ['title', 'description'] },
      tag: { by: 'equal', field: 'tags' },
      external_id: { by: 'equal', field: 'externalId' },
      managed_by: { by: 'equal', field: 'managedBy' },
      ...inPeriod('createdAt'),
      updated_since: updatedSince,
    },
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
    query: z.strictObject({ ...period('Created'), ...paging }),
    response: page(CourseVersion, 'versions of a course'),
    list: true,
    filters: inPeriod('createdAt'),
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
    query: z.strictObject({ ...period('Deleted'), sort: trashSort, ...paging }),
    response: page(DeletedCourse, 'deleted courses'),
    list: true,
    filters: inPeriod('deletedAt'),
  },
  restoreDeleted: {
    at: 'POST /v1/deleted-courses/{deletedCourseId}/restore',
    summary: 'Restore a deleted course',
    roles: teachers,
    response: Course,
    status: 200,
  },
})
