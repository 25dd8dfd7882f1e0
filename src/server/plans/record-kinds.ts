import type * as z from 'zod'
import type { JsonObject } from '../../codec/json-text.ts'
import type { UndoableNoun } from '../../contract/constants.ts'
import { CourseInput } from '../../contract/courses.ts'
import { EnrollmentInput } from '../../contract/enrollments.ts'
import { GradeInput } from '../../contract/grades.ts'
import { GroupInput, MembershipInput } from '../../contract/groups.ts'
import { contract } from '../../contract/index.ts'
import { MappingInput } from '../../contract/integrations.ts'
import { LessonInput } from '../../contract/lessons.ts'
import type { Operation } from '../../contract/operation.ts'
import { TermInput } from '../../contract/terms.ts'
import { UserInput } from '../../contract/users.ts'

export interface RecordKind {
  readonly name: UndoableNoun
  readonly fields: readonly string[]
  readonly list: Operation
  readonly get?: Operation
  readonly create: Operation
  /** Absent where `create` replaces a record. */
  readonly update?: Operation
  readonly delete: Operation
  readonly restore?: Operation
  readonly params: (record: JsonObject) => Readonly<Record<string, string>>
  /** Returns the query that finds a record of this form, under whatever id. */
  readonly sought?: (record: JsonObject) => Readonly<Record<string, string>>
  /** A deletion sets the status, which an update takes back. */
  readonly isMarked: boolean
}

/** Undefined for records that are not undone, such as API keys. */
export function kindOf(noun: string): RecordKind | undefined {
  return kinds.find(({ name }) => name === noun)
}

const { courses, lessons, users, enrollments, grades, groups, terms, integrations } = contract

const texts = (record: JsonObject, names: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(names).map(([name, field]) => [name, String(record[field])]))
const byId = (parameter: string) => (record: JsonObject) => texts(record, { [parameter]: 'id' })
const fieldsOf = (schema: z.ZodObject) => Object.keys(schema.shape)

/** All kinds, each after those that it refers to. */
export const kinds: readonly RecordKind[] = [
  { name: 'term', fields: fieldsOf(TermInput), ...terms, params: byId('termId'), isMarked: false },
  { name: 'user', fields: fieldsOf(UserInput), ...users, params: byId('userId'), isMarked: true },
  {
    ...{
      name: 'course',
      fields: fieldsOf(CourseInput),
      ...courses,
      params: byId('courseId'),
      isMarked: false,
    },
    restore: courses.restoreDeleted,
  },
  {
    ...{ name: 'group', fields: fieldsOf(GroupInput), ...groups, params: byId('groupId'), isMarked: false },
    restore: groups.restoreDeleted,
  },
  {
    ...{ name: 'membership', fields: fieldsOf(MembershipInput), isMarked: false },
    ...{ list: groups.memberships, create: groups.addMember, delete: groups.removeMember },
    params: (record) => texts(record, { groupId: 'groupId', userId: 'userId' }),
    sought: (record) => texts(record, { group_id: 'groupId', user_id: 'userId' }),
  },
  {
    ...{
      name: 'lesson',
      fields: fieldsOf(LessonInput),
      ...lessons,
      params: byId('lessonId'),
      isMarked: false,
    },
    restore: lessons.restoreDeleted,
  },
  {
    ...{ name: 'enrollment', fields: fieldsOf(EnrollmentInput), ...enrollments },
    ...{ params: byId('enrollmentId'), isMarked: true },
  },
  {
    ...{ name: 'grade', fields: fieldsOf(GradeInput), isMarked: false, params: byId('gradeId') },
    ...{ list: grades.list, get: grades.get, create: grades.set, delete: grades.delete },
    sought: (record) =>
      texts(record, { learner_id: 'learnerId', course_id: 'courseId', item_id: 'itemId', source: 'source' }),
  },
  {
    ...{ name: 'mapping', fields: fieldsOf(MappingInput), isMarked: false },
    ...{ list: integrations.mappings, get: integrations.mapping },
    ...{ create: integrations.map, delete: integrations.unmap },
    params: (record) => texts(record, { lmsKind: 'lmsKind', mappingId: 'id' }),
    sought: (record) => texts(record, { noun: 'noun', external_key: 'externalKey' }),
  },
]

export function restoreParams({ path }: Operation, id: string): Readonly<Record<string, string>> {
  const [, parameter = ''] = /\{(\w+)\}/.exec(path) ?? []
  return { [parameter]: id }
}

export function writableOf({ fields }: RecordKind, record: JsonObject): JsonObject {
  return Object.fromEntries(fields.flatMap((field) => (field in record ? [[field, record[field]]] : [])))
}
