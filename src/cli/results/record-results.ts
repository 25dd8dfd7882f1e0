import * as z from 'zod'
import { personalSections, singleSections } from '../../contract/constants.ts'
import { AcademyDocument } from '../records/sources/academy-document.ts'
import { count, result, shown, text } from './result.ts'

const change = z.object({ field: text, from: z.unknown(), to: z.unknown() })
const formatVersion = z.literal(1).describe('Version of this form')

const planned = z.object({
  dataset: text.describe('Kind of record: users, courses, …'),
  action: z.enum(['create', 'update', 'delete']),
  key: text.describe('What identifies the record'),
  id: text.nullish().describe('Id of an existing record'),
  place: text.optional().describe('File and line of the declaration'),
  fields: z.array(change),
})

const plan = {
  formatVersion,
  summary: z.object({ create: count, update: count, delete: count, unchanged: count }),
  changes: z.array(planned),
  notes: z.array(text).describe('Records that are left unchanged, with the reason'),
  undeclared: z.array(
    z.object({ dataset: text, course: text, id: text, title: text, isDuplicate: z.boolean() }),
  ),
}

const failed = z.object({
  dataset: text,
  action: text,
  key: text,
  place: text.nullable(),
  code: text,
  message: text,
})

const rosterCounts = z.record(
  z.string(),
  z.object({ roster: count, platform: count, equal: count, extra: count }),
)
const pushCounts = z.object({ wanted: count, equal: count, invited: count })

const problem = z.object({
  file: text,
  line: count.describe('0 for a record of another system'),
  record: text.optional().describe('Id and name of a record of another system'),
  column: text.nullable(),
  value: text.optional(),
  code: text,
  message: text,
})

const undoAction = z.enum(['create', 'update', 'delete'])
const undo = {
  formatVersion,
  summary: z.object({ restore: count, change: count, remove: count, kept: count, done: count }),
  lasting: z.array(text).describe('What cannot be undone'),
  kept: z
    .array(z.object({ noun: text, id: text, name: text, fields: z.array(text), reason: text }))
    .describe('Records that changed since, and stay as they are'),
  actions: z.array(
    z.object({ action: undoAction, noun: text, id: text, name: text, fields: z.array(change) }),
  ),
}

const personal = Object.entries(personalSections).map(([name, says]) => {
  const isSingle = singleSections.some((single) => single === name)
  const record = z.record(z.string(), z.unknown())
  return [name, (isSingle ? record.nullable() : z.array(record)).describe(says)] as const
})

/** Results that are no responses of the API. */
export const recordResults = {
  ImportReport: result('What an import did, by the number of rows', {
    file: text,
    rows: count,
    created: count,
    updated: count,
    unchanged: count,
    skipped: count,
    failed: count,
    errorsFile: text.nullable().describe('File with the rejected rows'),
  }),
  PlannedRow: result('What an import would do with a row (--dry-run)', {
    line: count,
    key: text.nullable(),
    action: z.enum(['create', 'update', 'unchanged', 'skip', 'fail']),
    changes: z.array(text).describe('Columns that would change'),
    message: text.nullable().describe('Reason of a rejection'),
  }),
  CoursePlan: result('What changes in a course to match its file', {
    action: z.enum(['create', 'update', 'none']),
    externalId: text.nullable(),
    title: text,
    changes: z.array(change),
    lessons: z.array(
      z.object({
        action: z.enum(['create', 'update', 'delete', 'keep', 'none']),
        externalId: text.nullable(),
        title: text,
        changes: z.array(change),
      }),
    ),
  }),
  CourseFile: result(
    'A course with its lessons, as courses apply reads it',
    { externalId: text.nullish(), title: text, lessons: z.array(z.looseObject({ title: text })) },
    z.unknown(),
  ),
  ValidCourses: result('Course files without problems', {
    valid: z.literal(true),
    files: z.array(text),
    courses: count,
    lessons: count,
  }),
  ValidFiles: result(
    'Academy files without problems, with the number of records by kind',
    {
      valid: z.literal(true),
      files: z.array(text),
    },
    count,
  ),
  Module: result('A module of a course', {
    id: text,
    title: text,
    description: text,
    order: count,
    lessons: count.nullish().describe('Number of its lessons, in lists'),
  }),
  GroupEnrollment: result('What enrolling a group did', {
    groupId: text,
    courseId: text,
    members: count,
    enrolled: count,
    alreadyEnrolled: count,
    refused: z.array(z.object({ userId: text, userEmail: text.nullable(), code: text, message: text })),
  }),
  PersonalData: result('All that an academy stores about a person', {
    exportedAt: text,
    ...Object.fromEntries(personal),
  }),
  GradebookLine: result(
    'A learner of a gradebook; each item has a column of its own with a percentage',
    {
      learnerId: text,
      email: text.nullable(),
      firstName: text.nullable(),
      lastName: text.nullable(),
      externalId: text.nullable(),
      enrollmentStatus: text,
      gradePercent: z.number().nullable(),
      passed: z.boolean().nullable(),
    },
    z.union([z.number(), z.string(), z.null()]),
  ),
  SummaryOfPeriod: result('Completion and grades of learners in a period', {
    period: z.object({ start: text.nullable(), end: text.nullable() }),
    summary: shown('Summary'),
  }),
  DataField: result('A column of lists and exports', {
    table: text,
    name: text,
    type: text,
    unit: text.nullable(),
    meaning: text,
    nullMeans: text.nullable(),
    privacy: z.enum(['id', 'name', 'address', 'text', 'time', 'none']),
    operation: text.nullable(),
  }),
  Plan: result('Changes that make an academy match files or a roster', plan),
  AppliedPlan: result('Changes that were made, and those that were refused', {
    ...plan,
    failed: z.array(failed),
  }),
  AcademyFile: AcademyDocument,
  RosterReport: result('What a roster has, and its problems', {
    source: text,
    format: text,
    version: text.nullable(),
    systemName: text.nullable(),
    valid: z.boolean(),
    files: z.array(z.object({ name: text, table: text, mode: text, rows: count, notKept: z.array(text) })),
    counts: z.record(z.string(), count),
    removed: z.record(z.string(), count),
    problemCount: count,
    problems: z.array(problem),
    warningCount: count,
    warnings: z.array(problem),
    notes: z.array(text),
  }),
  AppliedRoster: result('What applying a roster did, and what both sides have', {
    formatVersion,
    outcome: z.enum(['equal', 'applied', 'refused']),
    exitCode: count,
    target: text,
    summary: z.object({ create: count, update: count, remove: count, unchanged: count }),
    counts: z.object({ before: rosterCounts, after: rosterCounts }),
    differenceCount: count,
    differences: z.array(z.record(z.string(), z.unknown())),
    refusedCount: count,
    refused: z.array(failed),
  }),
  PushedRoster: result('What was written to the other system, and the comparison afterwards', {
    formatVersion,
    outcome: z.enum(['planned', 'equal', 'pushed', 'different', 'refused']),
    exitCode: count,
    counts: z.object({ courses: pushCounts, enrollments: pushCounts, items: pushCounts, grades: pushCounts }),
    differenceCount: count,
    differences: z.array(z.object({ part: text, name: text, action: z.enum(['create', 'update']) })),
    refusedCount: count,
    refused: z.array(z.object({ name: text, detail: text })),
  }),
  RosterPackage: result('A package for another system', {
    target: text,
    format: text,
    version: text.nullable(),
    files: z.array(z.object({ name: text, rows: count })),
    counts: z.record(z.string(), count),
    notes: z.array(text),
  }),
  UndoPlan: result('What an undo would do (--dry-run)', undo),
  Undone: result('What an undo did', {
    ...undo,
    change: text.nullish().describe('Id of the undo, which can be undone as well'),
    failed: z.array(
      z.object({ action: undoAction, noun: text, id: text, name: text, code: text, message: text }),
    ),
  }),
  UndoableChange: result(
    'A change of many records',
    {
      id: text,
      createdAt: text,
      userEmail: text.nullish(),
      command: text.nullable(),
      source: text.nullable(),
      done: text.describe('What it did, in words'),
      canUndo: z.boolean(),
      why: text.nullable().describe('Reason why it cannot be undone'),
    },
    z.unknown(),
  ),
} as const
