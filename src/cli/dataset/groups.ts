import type { JsonObject } from '../../codec/json-text.ts'
import { calls } from '../../contract/calls.ts'
import { GroupInput } from '../../contract/groups.ts'
import { optional, Reference } from '../../contract/values.ts'
import { columnsOf } from './column.ts'
import type { Dataset } from './dataset.ts'
import { ofFields, withoutOwnId } from './record.ts'
import { byExternalId, externalKeyOf } from './shown-records.ts'

const { list, get, create, update, batch } = calls.groups

/** A group in files, with its course by the name that files use. */
export const GroupRecord = GroupInput.omit({ courseId: true }).extend({ course: optional(Reference) })

/** Groups, matched by external id: names need not be unique. */
export const groups: Dataset = {
  name: 'groups',
  noun: 'group',
  schema: GroupRecord,
  columns: columnsOf(GroupRecord),
  keys: [['externalId']],
  references: { course: 'courses' },
  operations: {
    list,
    get,
    create,
    update,
    delete: calls.groups.delete,
    batch,
    params: ({ id }) => ({ groupId: String(id) }),
  },
  find: byExternalId('groupId'),
  toRecord: async (shown) => ({
    ...ofFields(GroupRecord, shown),
    externalId: externalKeyOf(shown),
    ...(shown['courseId'] !== undefined && { course: courseOf(shown) }),
  }),
  toBody: async (record, current) => toItem(withoutOwnId(record, current)),
  toItem,
}

/** Returns a record with its course by the name of the API. */
function toItem({ course, ...others }: JsonObject): JsonObject {
  return { ...others, ...(course !== undefined && { courseId: course }) }
}

/** Returns the name of the course of a group for references; null for none. */
function courseOf({ courseId, courseExternalId }: JsonObject): string | null {
  return courseId === null ? null : `ext:${courseExternalId ?? courseId}`
}
