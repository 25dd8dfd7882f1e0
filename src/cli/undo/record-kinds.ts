import * as z from 'zod'
import type { JsonObject } from '../../codec/json-text.ts'
import { calls } from '../../contract/calls.ts'
import { CourseInput } from '../../contract/courses.ts'
import { EnrollmentInput } from '../../contract/enrollments.ts'
import { GradeInput } from '../../contract/grades.ts'
import { GroupInput, MembershipInput } from '../../contract/groups.ts'
import { LessonInput } from '../../contract/lessons.ts'
import { MappingInput } from '../../contract/mappings.ts'
import { TermInput } from '../../contract/terms.ts'
import { UserInput } from '../../contract/users.ts'
import type { Dataset, DatasetOperations } from '../dataset/dataset.ts'

/** Nouns of records whose changes can be undone, as actions of the audit log name them, in the order of their restoring. */
const kindNames = [
  ...(['term', 'user', 'course', 'group', 'membership', 'lesson', 'enrollment', 'grade', 'mapping'] as const),
] as const
export type KindName = (typeof kindNames)[number]

/** Operations and fields that read records of one kind and write them back. */
export interface RecordKind {
  readonly name: KindName
  /** Plural noun in plans: `enrolments`. */
  readonly plural: string
  readonly dataset: Dataset
  /** Fields that can be written. */
  readonly fields: readonly string[]
  /** Query of the list, which includes records that are only marked as deleted; null if they are read one by one. */
  readonly listed: JsonObject | null
  /** Returns the query that finds one record of this form; by default it is read by its id. */
  readonly sought?: (record: JsonObject) => JsonObject
  /** True if a deletion sets the status, which an update takes back. */
  readonly isMarked: boolean
  /** True if records are created in batches only. */
  readonly isAdded: boolean
}

/** Returns the kind of a noun; undefined for records that are not undone, such as API keys. */
export function kindOf(noun: string): RecordKind | undefined {
  return kinds.find(({ name }) => name === noun)
}

const { courses, lessons, users, enrollments, grades, groups, terms, integrations } = calls

const byId = (parameter: string) => (record: JsonObject) => ({ [parameter]: String(record['id']) })

/** All kinds, each after those that it refers to. */
export const kinds: readonly RecordKind[] = [
  {
    ...kind('term', 'terms', TermInput, { ...terms, params: byId('termId') }),
    sought: ({ name, externalId }) => (externalId === null ? { name } : { external_id: externalId }),
  },
  {
    ...kind('user', 'users', UserInput, { ...users, params: byId('userId') }),
    listed: { include_deleted: true },
    isMarked: true,
  },
  kind('course', 'courses', CourseInput, {
    ...courses,
    restore: courses.restoreDeleted,
    params: byId('courseId'),
  }),
  kind('group', 'groups', GroupInput, {
    ...groups,
    restore: groups.restoreDeleted,
    params: byId('groupId'),
  }),
  {
    ...kind('membership', 'members of groups', MembershipInput, {
      list: groups.memberships,
      create: groups.addMember,
      delete: groups.removeMember,
      batch: groups.batchMembers,
      params: ({ groupId, userId }) => ({ groupId: String(groupId), userId: String(userId) }),
    }),
    sought: ({ groupId, userId }) => ({ group_id: groupId, user_id: userId }),
    isAdded: true,
  },
  kind('lesson', 'lessons', LessonInput, {
    ...lessons,
    restore: lessons.restoreDeleted,
    params: byId('lessonId'),
  }),
  {
    ...kind('enrollment', 'enrolments', EnrollmentInput, { ...enrollments, params: byId('enrollmentId') }),
    isMarked: true,
  },
  {
    ...kind('grade', 'grades', GradeInput, {
      list: grades.list,
      get: grades.get,
      create: grades.set,
      delete: grades.delete,
      params: byId('gradeId'),
    }),
    sought: ({ learnerId, courseId, itemId, source }) => ({
      ...{ learner_id: learnerId, course_id: courseId, item_id: itemId, source },
    }),
  },
  {
    ...kind('mapping', 'mappings', MappingInput, {
      list: integrations.mappings,
      get: integrations.mapping,
      create: integrations.map,
      delete: integrations.unmap,
      params: ({ id, lmsKind }) => ({ lmsKind: String(lmsKind), mappingId: String(id) }),
    }),
    sought: ({ noun, externalKey }) => ({ noun, external_key: externalKey }),
    listed: null,
  },
]

function kind(
  name: KindName,
  plural: string,
  schema: z.ZodObject,
  operations: DatasetOperations,
): RecordKind {
  const { list, get, create, update, delete: remove, restore, batch, params } = operations
  const fields = Object.keys(schema.shape)
  const toItem = (record: JsonObject) =>
    Object.fromEntries(fields.flatMap((field) => (field in record ? [[field, record[field]]] : [])))
  return {
    name,
    plural,
    fields,
    listed: {},
    isMarked: false,
    isAdded: false,
    dataset: {
      name: datasetName(name),
      noun: name === 'enrollment' ? 'enrolment' : name,
      schema: z.object({}),
      columns: [],
      keys: [['id']],
      references: {},
      operations: {
        list,
        create,
        params,
        ...(get && { get }),
        ...(update && { update }),
        ...(remove && { delete: remove }),
        ...(restore && { restore }),
        ...(batch && { batch }),
      },
      find: () => null,
      toRecord: async (shown) => shown,
      toBody: async (record) => toItem(record),
      toItem,
    },
  }
}

function datasetName(name: KindName): Dataset['name'] {
  return `${name}s`
}
