import * as z from 'zod'
import { Difficulty } from './course-parts.ts'
import { type Fields, field, named, objectOf, shown } from './fields.ts'
import { pageFields } from './lists.ts'
import { ProgressStatus } from './progress.ts'
import { textOrNull, timeOrNull } from './record-fields.ts'
import { Percent, Time } from './values.ts'

const Id = z.string()
const externalId = (of: string) => textOrNull(`The school’s own id of the ${of}; null without one`)
const times = {
  createdAt: field(Time, 'When it was created'),
  updatedAt: field(Time, 'When it was last changed'),
}

const users = {
  id: field(Id, 'Id of the user, usr_…'),
  externalId: externalId('user'),
  email: field(z.string(), 'E-mail address'),
  firstName: textOrNull('First name; null without one'),
  lastName: textOrNull('Last name; null without one'),
  role: field(z.enum(['admin', 'instructor', 'analyst', 'learner']), 'Role in the academy'),
  status: field(z.enum(['active', 'suspended']), 'Status of the user'),
  ...times,
}

const courses = {
  id: field(Id, 'Id of the course, crs_…'),
  externalId: externalId('course'),
  title: field(z.string(), 'Title of the course'),
  difficulty: field(Difficulty, 'Level of the course'),
  status: field(z.enum(['draft', 'published', 'archived']), 'Status of the course'),
  termId: field(Id.nullable(), 'Id of the term of the course; null without one'),
  passingScore: field(z.number(), 'Grade from which the course is passed, as a percentage, 0–100'),
  publishedAt: timeOrNull('When the course was first published; null before that'),
  archivedAt: timeOrNull('When the course was archived; null if it is not'),
  ...times,
}

const lessons = {
  id: field(Id, 'Id of the lesson, les_…'),
  externalId: externalId('lesson'),
  courseId: field(Id, 'Id of its course, crs_…'),
  moduleId: field(Id.nullable(), 'Id of its module; null outside of modules'),
  title: field(z.string(), 'Title of the lesson'),
  order: field(z.int(), 'Place in the course, from 1'),
  durationMinutes: field(z.int().nullable(), 'Duration in minutes; null if unknown'),
  status: field(z.enum(['draft', 'published']), 'Status of the lesson'),
  dueAt: timeOrNull('When it is due; null without a due date'),
  ...times,
}

const enrollments = {
  id: field(Id, 'Id of the enrolment, enr_…'),
  courseId: field(Id, 'Id of the course, crs_…'),
  userId: field(Id, 'Id of the user, usr_…'),
  role: field(z.enum(['learner', 'instructor']), 'Role in the course'),
  status: field(z.enum(['active', 'inactive', 'completed']), 'Status of the enrolment'),
  enrolledAt: field(Time, 'When the user was enrolled'),
  completedAt: timeOrNull('When the course was completed; null before that'),
  source: field(z.string(), 'What the enrolment was made by'),
  ...times,
}

const progress = {
  learnerId: field(Id, 'Id of the learner, usr_…'),
  courseId: field(Id, 'Id of the course, crs_…'),
  version: field(z.int(), 'Number of the step of this learner in this course, from 1'),
  completionPercentage: field(Percent, 'Percentage of the course that was completed then, 0–100'),
  status: field(ProgressStatus, 'Status of the progress then'),
  lastAccessed: field(Time, 'When the learner had last accessed the course'),
  recordedAt: field(Time, 'When the step was recorded'),
}

const grades = {
  id: field(Id, 'Id of the grade, grd_…'),
  learnerId: field(Id, 'Id of the learner, usr_…'),
  courseId: field(Id, 'Id of the course, crs_…'),
  itemId: field(z.string(), 'Id of the item that was graded'),
  source: field(z.string(), 'System that the grade comes from'),
  label: field(z.string(), 'Name of the item'),
  scoreGiven: field(z.number(), 'Score'),
  scoreMaximum: field(z.number(), 'Maximum score of the item'),
  percent: field(z.number(), 'Score as a percentage of the maximum, above 100 if it exceeds it'),
  weight: field(
    z.number().nullable(),
    'Weight of the item in the grade of the course; null if the course has it',
  ),
  published: field(z.boolean(), 'Whether the learner sees the grade'),
  gradedAt: field(Time, 'When it was graded'),
  version: field(z.int(), 'Number of the version of the grade, from 1'),
  ...times,
}

/** Each table comes after those that it refers to. */
export const dataTableNames = ['users', 'courses', 'lessons', 'enrollments', 'progress', 'grades'] as const
export type DataTableName = (typeof dataTableNames)[number]

export interface DataTable {
  /** Meaning of a row, as a noun phrase. */
  readonly says: string
  readonly fields: Fields
  readonly key: readonly string[]
  /** Tables that fields refer to, by their `id`. */
  readonly references: Readonly<Record<string, DataTableName>>
}

const ofCourse = { courseId: 'courses' } as const

/** New fields are appended. */
export const dataTables: Readonly<Record<DataTableName, DataTable>> = {
  users: { says: 'Users that are not deleted', fields: users, key: ['id'], references: {} },
  courses: { says: 'Courses', fields: courses, key: ['id'], references: {} },
  lessons: { says: 'Lessons of the courses', fields: lessons, key: ['id'], references: ofCourse },
  enrollments: {
    says: 'Users in courses, without removed enrolments',
    fields: enrollments,
    key: ['id'],
    references: { ...ofCourse, userId: 'users' },
  },
  progress: {
    says: 'The history of progress: each step of each learner in each course',
    fields: progress,
    key: ['learnerId', 'courseId', 'version'],
    references: { learnerId: 'users', ...ofCourse },
  },
  grades: {
    says: 'Grades of learners, without cleared ones',
    fields: grades,
    key: ['id'],
    references: { learnerId: 'users', ...ofCourse },
  },
}

/** States of a row. `erased`: the data of the user may not be kept. */
export const rowStates = ['current', 'removed', 'erased'] as const
export type RowState = (typeof rowStates)[number]

export const DataRow = named(
  'DataRow',
  'A row of a data set, or the key of one that is there no longer',
  shown(() => ({
    table: field(z.enum(dataTableNames), 'Table of the row'),
    key: field(z.record(z.string(), z.unknown()), 'Fields that identify the row, by name: mostly id'),
    state: field(
      z.enum(rowStates),
      'current; removed if it is there no longer; erased if it was a user whose data may not be kept',
    ),
    record: field(
      z.record(z.string(), z.unknown()).nullable(),
      'Fields of the row, by name; null unless it is current',
    ),
  })),
)
export type DataRow = z.output<typeof DataRow>

const until = field(z.string(), 'Send it as after to get what changes after this page')

export const DataChangePage = named(
  'DataChangePage',
  'One page of changed rows of a data set',
  objectOf({
    ...pageFields(DataRow),
    until,
  }),
)
export type DataChangePage = z.output<typeof DataChangePage>
