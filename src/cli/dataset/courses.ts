import * as z from 'zod'
import { isJsonObject } from '../../codec/json-object.ts'
import { calls } from '../../contract/calls.ts'
import { CourseInput } from '../../contract/course-attributes.ts'
import { columnsOf } from './column.ts'
import type { Dataset } from './dataset.ts'
import { ofFields, withKnownIds, withoutOwnId } from './record.ts'

const { list, get, create, update } = calls.courses

/** Modules are in the order of their list, and called by their titles. */
const Module = z.strictObject({ title: z.string(), description: z.string().default('') })
const CourseRecord = CourseInput.extend({ modules: z.array(Module).max(1000).default([]) })

/** Courses, known by their external id. */
export const courses: Dataset = {
  name: 'courses',
  noun: 'course',
  schema: CourseRecord,
  columns: columnsOf(CourseRecord),
  keys: [['externalId']],
  references: {},
  operations: {
    list,
    get,
    create,
    update,
    delete: calls.courses.delete,
    params: ({ id }) => ({ courseId: String(id) }),
  },
  find: ({ externalId }) =>
    typeof externalId === 'string'
      ? {
          reference: { courseId: `ext:${externalId}` },
          query: { external_id: externalId },
          matches: (shown) => externalId === (shown['externalId'] ?? shown['id']),
        }
      : null,
  toRecord: async (shown) => ({
    ...ofFields(CourseRecord, shown),
    externalId: shown['externalId'] ?? shown['id'],
    ...(Array.isArray(shown['modules']) && {
      modules: shown['modules']
        .filter(isJsonObject)
        .map(({ title, description }) => ({ title, description })),
    }),
  }),
  toBody: async (record, current) => {
    const body = withoutOwnId(record, current)
    if (!current || body['modules'] === undefined) return body
    return { ...body, modules: withKnownIds(body['modules'], current['modules'], ({ title }) => title) }
  },
}
