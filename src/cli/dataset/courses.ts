import * as z from 'zod'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { calls } from '../../contract/calls.ts'
import { CourseInput } from '../../contract/courses.ts'
import { withKnownIds } from '../../contract/known-ids.ts'
import { optional, Reference, text } from '../../contract/values.ts'
import { columnsOf } from './column.ts'
import type { Dataset } from './dataset.ts'
import { termKeyIn } from './names.ts'
import { ofFields, withoutOwnId } from './record.ts'
import { byExternalId, externalKeyOf } from './shown-records.ts'

const { list, get, create, update } = calls.courses

/** A module in files: ordered by the list and named by its title. */
export const ModuleRecord = z.strictObject({
  title: text(1, 255),
  description: z.string().max(10_000).default(''),
})
/** A course in files, with its term by the name that files use. */
export const CourseRecord = CourseInput.omit({ termId: true }).extend({
  modules: z.array(ModuleRecord).max(1000).default([]),
  term: optional(Reference),
})

/** Courses, matched by external id. */
export const courses: Dataset = {
  name: 'courses',
  noun: 'course',
  schema: CourseRecord,
  columns: columnsOf(CourseRecord),
  keys: [['externalId']],
  references: { term: 'terms' },
  operations: {
    list,
    get,
    create,
    update,
    delete: calls.courses.delete,
    params: ({ id }) => ({ courseId: String(id) }),
  },
  find: byExternalId('courseId'),
  toRecord: async (shown) => ({
    ...ofFields(CourseRecord, shown),
    externalId: externalKeyOf(shown),
    ...(shown['termId'] !== undefined && { term: termKeyIn(shown) }),
    ...(Array.isArray(shown['modules']) && {
      modules: shown['modules']
        .filter(isJsonObject)
        .map(({ title, description }) => ({ title, description })),
    }),
  }),
  toBody: async (record, current) => {
    const { term, ...others } = withoutOwnId(record, current)
    const body: JsonObject = { ...others, ...(term !== undefined && { termId: term }) }
    if (!current || body['modules'] === undefined) return body
    return { ...body, modules: withKnownIds(body['modules'], current['modules'], ({ title }) => title) }
  },
}
