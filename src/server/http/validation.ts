import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'
import { isJsonObject, type JsonObject } from '../../codec/json-object.ts'
import { isStorableText } from '../../codec/unicode-text.ts'
import type { Fault } from '../../contract/errors.ts'
import { isList } from '../../contract/field.ts'
import { fieldsOf } from '../../contract/fields.ts'
import { codeOf, detailOf, meant } from '../../contract/issue-words.ts'
import { bare } from '../../contract/patch.ts'
import { invalid, ProblemError, problemsIn } from '../problem/problem-error.ts'
import { Faults } from './faults.ts'
import { maximumMembers, mergePatch, pointerOf, structuralFaults, unsound } from './json.ts'

/**
 * The whole resource that a body describes: null stands for the default, read-only fields sent back unchanged are
 * left out, everything else must be known and right. Throws 422 with all faults at once.
 *
 * @param schema the writable attributes
 * @param shown the resource as it is shown; what it has beside the writable attributes is read-only
 * @param current the stored resource, for an update: its writable part is what the body is merged into
 * @param found what was found to be wrong before, to be told with the rest
 */
export function parseResource<Schema extends z.ZodObject>(
  schema: Schema,
  shown: z.ZodType,
  body: unknown,
  current: JsonObject = {},
  found: readonly Fault[] = [],
): z.output<Schema> {
  const fields = fieldsOf(shown) ?? (shown instanceof z.ZodObject ? shown.shape : {})
  const faults = structureFaults(body, { ...fields, ...schema.shape })
  if (!isJsonObject(body))
    throw invalid([{ pointer: '#', code: 'invalid_type', detail: 'must be an object' }])
  for (const fault of found) faults.add(fault)
  addUnknownNulls(faults, schema, fields, body)
  const writable = Object.fromEntries(
    Object.entries(current).filter(([key]) => Object.hasOwn(schema.shape, key)),
  )
  const sent = Object.fromEntries(
    Object.entries(body).filter(([key, value]) => {
      if (Object.hasOwn(schema.shape, key) || !Object.hasOwn(fields, key)) return true
      if (!Object.hasOwn(current, key) || !isDeepStrictEqual(value, current[key])) {
        faults.add({ pointer: pointerOf([key]), code: 'read_only', detail: 'is read-only' })
      }
      return false
    }),
  )
  const parsed = schema.safeParse(mergePatch(mergePatch({}, writable), sent), { reportInput: true })
  if (!parsed.success) for (const issue of parsed.error.issues) addIssue(faults, issue, schema)
  if (faults.count > 0) throw invalid(faults.told, faults.more)
  return parsed.data as z.output<Schema>
}

/** Any body as its schema says; throws 422 with all faults at once. */
export function parseBody<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  const faults = structureFaults(body, 'shape' in schema ? (schema as unknown as z.ZodObject).shape : {})
  const parsed = schema.safeParse(body, { reportInput: true })
  if (!parsed.success) for (const issue of parsed.error.issues) addIssue(faults, issue, schema)
  if (faults.count > 0) throw invalid(faults.told, faults.more)
  return parsed.data as z.output<Schema>
}

/** Throws 422 for a body that is deeper or larger than a schema is to walk through, in stack and in time. */
function structureFaults(body: unknown, fields: object): Faults {
  const crowd = isJsonObject(body) ? Object.keys(body) : []
  if (crowd.length > maximumMembers) {
    const faults = new Faults()
    const unknown = crowd.filter((name) => !Object.hasOwn(fields, name))
    addUnknownFields(faults, unknown, Object.keys(fields), [])
    throw invalid(faults.told, faults.more)
  }
  const faults = structuralFaults(body)
  if (faults.told.some(({ code }) => code === 'too_deep' || code === 'too_many')) {
    throw invalid(faults.told, faults.more)
  }
  return faults
}

/**
 * In a merge patch null takes a member away (RFC 7396), so the schema never sees it: a name that is not known has to
 * be found before.
 *
 * @param besides names that are known here besides those of the schema
 */
function addUnknownNulls(
  faults: Faults,
  { shape }: z.ZodObject,
  besides: object,
  patch: JsonObject,
  above: readonly string[] = [],
): void {
  const known = Object.keys(shape)
  const unknown: string[] = []
  for (const [key, value] of Object.entries(patch)) {
    const field = Object.hasOwn(shape, key) ? bare(shape[key] as z.ZodType) : undefined
    if (field instanceof z.ZodObject && isJsonObject(value)) {
      addUnknownNulls(faults, field, {}, value, [...above, key])
    } else if (!field && value === null && !Object.hasOwn(besides, key)) unknown.push(key)
  }
  addUnknownFields(faults, unknown, known, above)
}

function addUnknownFields(
  faults: Faults,
  names: readonly string[],
  known: readonly string[],
  above: readonly PropertyKey[],
): void {
  faults.addEach(names, (name) => ({
    pointer: pointerOf([...above, name]),
    code: 'unknown_field',
    detail: `is not a known field${meantAmong(faults)(name, known)}`,
  }))
}

/** A query as its schema says; throws 400 with all faults at once, unknown and repeated parameters among them. */
export function parseQuery<Schema extends z.ZodObject>(
  schema: Schema | undefined,
  search: string,
): z.output<Schema> {
  if (!schema && search === '') return {} as z.output<Schema>
  const parameters = new URLSearchParams(search)
  const faults = new Faults()
  const given: Record<string, string> = {}
  for (const [name, value] of parameters) {
    if (Object.hasOwn(given, name)) {
      // Clients made from the document may write a list as `status=draft&status=published`.
      if (isList(schema?.shape[name])) given[name] += `,${value}`
      else faults.add({ parameter: name, code: 'repeated', detail: 'must be given only once' })
    } else if (schema && Object.hasOwn(schema.shape, name)) {
      given[name] = value
      // Whoever reads a cursor judges it.
      if (name !== 'cursor' && !isStorableText(value)) {
        faults.add({ parameter: name, code: 'invalid_string', detail: unsound })
      }
    } else {
      const suggestion = meantAmong(faults)(name, Object.keys(schema?.shape ?? {}))
      const detail = `is not a known parameter${suggestion}`
      faults.add({ parameter: name, code: 'unknown_parameter', detail })
    }
  }
  const parsed = schema?.safeParse(given, { reportInput: true })
  if (parsed?.success === false) {
    faults.addEach(parsed.error.issues, (issue) => ({
      parameter: String(issue.path[0]),
      code: codeOf(issue),
      detail: detailOf(issue, meantAmong(faults)),
    }))
  }
  if (faults.count === 0) return (parsed?.data ?? {}) as z.output<Schema>
  const { told, more } = faults
  const unknown = told.some(({ code }) => code === 'unknown_parameter')
  throw new ProblemError(unknown ? 'unknown_parameter' : 'invalid_parameter', problemsIn(told, more), {
    errors: told,
    more,
  })
}

function addIssue(faults: Faults, issue: z.core.$ZodIssue, schema: z.ZodType): void {
  if (issue.code === 'unrecognized_keys') {
    addUnknownFields(faults, issue.keys, fieldsAt(schema, issue.path), issue.path)
    return
  }
  faults.addEach([issue], () => ({
    pointer: pointerOf(issue.path),
    code: codeOf(issue),
    detail: detailOf(issue, meantAmong(faults)),
  }))
}

function fieldsAt(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  let place: z.ZodType | undefined = bare(schema)
  for (const step of path) {
    const inner: unknown =
      place && 'shape' in place
        ? (place as z.ZodObject).shape[String(step)]
        : place && 'element' in place
          ? place.element
          : undefined
    place = inner ? bare(inner as z.ZodType) : undefined
  }
  return place && 'shape' in place ? Object.keys((place as z.ZodObject).shape) : []
}

const maximumLookups = 20

/** After some misses it is no longer looked for what was meant, because looking takes time. */
function meantAmong({ count }: Faults): typeof meant {
  return count < maximumLookups ? meant : () => ''
}
