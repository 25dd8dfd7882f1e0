import * as z from 'zod'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { calls } from '../../contract/calls.ts'
import { contentWithKnownIds, moduleNamed, moduleNames } from '../../contract/known-ids.ts'
import { LessonInput } from '../../contract/lessons.ts'
import { optional } from '../../contract/values.ts'
import { columnsOf } from './column.ts'
import { type Dataset, RecordError } from './dataset.ts'
import type { Names } from './names.ts'
import { ofFields, withoutIds, withoutOwnId } from './record.ts'
import { byExternalId, externalKeyOf } from './shown-records.ts'

const { list, get, create, update } = calls.lessons

const { externalId, courseId, moduleId: _, ...others } = LessonInput.shape
/** A lesson with the title of its module, or the module's number if several share the title. */
export const LessonRecord = z.strictObject({
  externalId,
  courseId,
  module: optional(z.string().max(255)),
  ...others,
})

/** Lessons, matched by external id. */
export const lessons: Dataset = {
  name: 'lessons',
  noun: 'lesson',
  schema: LessonRecord,
  columns: columnsOf(LessonRecord),
  keys: [['externalId']],
  inOrderOf: 'courseId',
  references: { courseId: 'courses' },
  operations: {
    list,
    get,
    create,
    update,
    delete: calls.lessons.delete,
    params: ({ id }) => ({ lessonId: String(id) }),
  },
  find: byExternalId('lessonId'),
  toRecord: async (shown, names) => ({
    ...ofFields(LessonRecord, shown),
    externalId: externalKeyOf(shown),
    courseId: await names.courseKey(String(shown['courseId'])),
    module: await moduleName(shown, names),
    contentBlocks: withoutIds(shown['contentBlocks']),
    assessments: withoutIds(shown['assessments'], 'questions'),
  }),
  toBody: async (record, current, names) => {
    const { module, ...body } = withoutOwnId(record, current)
    return {
      ...body,
      ...(module !== undefined && { moduleId: module === null ? null : await moduleId(record, names) }),
      ...(current && contentWithKnownIds(body, current)),
    }
  },
}

async function modulesOf(courseId: unknown, names: Names): Promise<readonly JsonObject[]> {
  const modules = (await names.course(String(courseId)))?.['modules']
  return Array.isArray(modules) ? modules.filter(isJsonObject) : []
}

async function moduleName({ courseId, moduleId }: JsonObject, names: Names): Promise<string | null> {
  if (moduleId === null || moduleId === undefined) return null
  const modules = await modulesOf(courseId, names)
  return moduleNames(modules)[modules.findIndex(({ id }) => String(id) === String(moduleId))] ?? null
}

/** Returns the id of a module. Throws a RecordError if the course lacks it or several match. */
async function moduleId({ courseId, module }: JsonObject, names: Names): Promise<unknown> {
  const modules = await modulesOf(courseId, names)
  const place = moduleNamed(modules, String(module))
  const placed = place === null ? undefined : modules[place]
  if (placed) return placed['id']
  const name = JSON.stringify(module)
  throw new RecordError(
    'module',
    place === null
      ? `is ambiguous: several modules of ${courseId} have the title ${name}; use the number of its place`
      : `is not a module of ${courseId}: ${name}`,
  )
}
