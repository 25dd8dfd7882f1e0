import * as z from 'zod'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { calls } from '../../contract/calls.ts'
import { CourseInput } from '../../contract/courses.ts'
import { contentWithKnownIds, moduleNamed, moduleNames, withKnownIds } from '../../contract/known-ids.ts'
import { LessonInput } from '../../contract/lessons.ts'
import { TermInput } from '../../contract/terms.ts'
import { optional, Reference, text } from '../../contract/values.ts'
import { columnsOf } from './column.ts'
import { type Dataset, RecordError } from './dataset.ts'
import {
  byExternalId,
  externalKeyOf,
  type Names,
  ofFields,
  paramsOf,
  termKeyIn,
  withoutIds,
  withoutOwnId,
} from './names.ts'

/** Terms, matched by external id: names need not be unique. */
export const terms: Dataset = {
  name: 'terms',
  noun: 'term',
  schema: TermInput,
  columns: columnsOf(TermInput),
  keys: [['externalId']],
  references: {},
  operations: { ...calls.terms, params: paramsOf('termId') },
  find: byExternalId('termId'),
  toRecord: async (shown) => ({ ...ofFields(TermInput, shown), externalId: externalKeyOf(shown) }),
  toBody: async (record, current) => withoutOwnId(record, current),
}

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
  operations: { ...calls.courses, params: paramsOf('courseId') },
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

/** Names of modules, by the ids of their course and their own. */
export type ModuleNames = Map<unknown, ReadonlyMap<unknown, string | undefined>>

/** Returns the names that the modules of a course get by a declaration, by id; a renamed module keeps its id. */
export function nextModuleNames(
  declared: unknown,
  current: unknown,
): ReadonlyMap<unknown, string | undefined> {
  const modules = withKnownIds(declared, current, ({ title }) => title)
  const names = moduleNames(modules)
  return new Map(
    (Array.isArray(modules) ? modules.filter(isJsonObject) : []).map(({ id }, index) => [id, names[index]]),
  )
}

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
  operations: { ...calls.lessons, params: paramsOf('lessonId') },
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

/** Throws a RecordError if the course lacks it or several match. */
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
