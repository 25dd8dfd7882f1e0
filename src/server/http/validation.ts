import { isDeepStrictEqual } from 'node:util'
import type * as z from 'zod'
import { isJsonObject, type JsonObject } from '../../codec/json-object.ts'
import { nearest } from '../../codec/nearest.ts'
import type { Fault } from '../../contract/errors.ts'
import { bare } from '../../contract/patch.ts'
import { invalid, ProblemError, problemsIn } from '../problem/problem-error.ts'
import { mergePatch, pointerOf, structuralFaults } from './json.ts'

type Issue = z.core.$ZodIssue

/**
 * The whole resource that a body describes: null stands for the default, read-only fields sent back unchanged are
 * left out, everything else must be known and right. Throws 422 with all faults at once.
 *
 * @param schema the writable attributes
 * @param shown the resource as it is shown; what it has beside the writable attributes is read-only
 * @param current the stored resource, for an update: its writable part is what the body is merged into
 */
export function parseResource<Schema extends z.ZodObject>(
  schema: Schema,
  shown: z.ZodObject,
  body: unknown,
  current: JsonObject = {},
): z.output<Schema> {
  const faults = structureFaults(body)
  if (!isJsonObject(body))
    throw invalid([{ pointer: '#', code: 'invalid_type', detail: 'must be an object' }])
  const writable = Object.fromEntries(
    Object.entries(current).filter(([key]) => Object.hasOwn(schema.shape, key)),
  )
  const sent = Object.fromEntries(
    Object.entries(body).filter(([key, value]) => {
      if (Object.hasOwn(schema.shape, key) || !Object.hasOwn(shown.shape, key)) return true
      if (!Object.hasOwn(current, key) || !isDeepStrictEqual(value, current[key])) {
        faults.push({ pointer: pointerOf([key]), code: 'read_only', detail: 'is read-only' })
      }
      return false
    }),
  )
  const parsed = schema.safeParse(mergePatch(mergePatch({}, writable), sent), { reportInput: true })
  if (!parsed.success) faults.push(...parsed.error.issues.flatMap((issue) => bodyFaults(issue, schema, [])))
  if (faults.length > 0) throw invalid(unique(faults))
  return parsed.data as z.output<Schema>
}

/** Any body as its schema says; throws 422 with all faults at once. */
export function parseBody<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  const faults = structureFaults(body)
  const parsed = schema.safeParse(body, { reportInput: true })
  if (!parsed.success) faults.push(...parsed.error.issues.flatMap((issue) => bodyFaults(issue, schema, [])))
  if (faults.length > 0) throw invalid(unique(faults))
  return parsed.data as z.output<Schema>
}

function structureFaults(body: unknown): Fault[] {
  const faults = structuralFaults(body)
  // What goes deeper than that is not for the schema to walk through: the stack may not hold.
  if (faults.some(({ code }) => code === 'too_deep')) throw invalid(faults)
  return faults
}

/** A query as its schema says; throws 400 with all faults at once, unknown and repeated parameters among them. */
export function parseQuery<Schema extends z.ZodObject>(
  schema: Schema | undefined,
  search: string,
): z.output<Schema> {
  const parameters = new URLSearchParams(search)
  const faults: Fault[] = []
  const given: Record<string, string> = {}
  for (const [name, value] of parameters) {
    if (Object.hasOwn(given, name))
      faults.push({ parameter: name, code: 'repeated', detail: 'must be given only once' })
    else if (schema && Object.hasOwn(schema.shape, name)) given[name] = value
    else faults.push(unknownParameter(name, Object.keys(schema?.shape ?? {})))
  }
  const parsed = schema?.safeParse(given, { reportInput: true })
  if (parsed?.success === false) {
    faults.push(
      ...parsed.error.issues.map((issue) => ({
        parameter: String(issue.path[0]),
        code: codeOf(issue),
        detail: detailOf(issue),
      })),
    )
  }
  if (faults.length === 0) return (parsed?.data ?? {}) as z.output<Schema>
  const code = faults.some((fault) => fault.code === 'unknown_parameter')
    ? 'unknown_parameter'
    : 'invalid_parameter'
  throw new ProblemError(code, problemsIn(faults), { errors: faults })
}

function unknownParameter(parameter: string, known: readonly string[]): Fault {
  return {
    parameter,
    code: 'unknown_parameter',
    detail: `is not a known parameter${meant(parameter, known)}`,
  }
}

function bodyFaults(issue: Issue, schema: z.ZodType, above: readonly PropertyKey[]): Fault[] {
  const path = [...above, ...issue.path]
  if (issue.code !== 'unrecognized_keys') {
    return [{ pointer: pointerOf(path), code: codeOf(issue), detail: detailOf(issue) }]
  }
  const known = fieldsAt(schema, issue.path)
  return issue.keys.map((key) => ({
    pointer: pointerOf([...path, key]),
    code: 'unknown_field',
    detail: `is not a known field${meant(key, known)}`,
  }))
}

function meant(word: string, known: readonly string[]): string {
  const near = nearest(word, known)
  return near.length > 0 ? `; did you mean ${near.join(' or ')}?` : ''
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

function codeOf(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'required' : 'invalid_type'
    case 'too_small':
    case 'too_big':
      if (issue.origin !== 'string' && issue.origin !== 'array') return 'out_of_range'
      return issue.code === 'too_small' ? 'too_short' : 'too_long'
    case 'invalid_value':
      return issue.input === undefined ? 'required' : 'invalid_choice'
    case 'invalid_union':
      return 'invalid_type'
    case 'custom':
      return String(issue.params?.['code'] ?? 'invalid')
    default:
      return issue.code
  }
}

function detailOf(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is required' : `must be ${article(issue.expected)}`
    case 'invalid_value': {
      const choices = issue.values.map(String)
      if (issue.input === undefined) return 'is required'
      return `must be one of ${choices.join(', ')}${meant(String(issue.input), choices)}`
    }
    case 'too_small':
      return sized(issue.origin, issue.inclusive === false ? 'more than' : 'at least', Number(issue.minimum))
    case 'too_big':
      return sized(issue.origin, issue.inclusive === false ? 'less than' : 'at most', Number(issue.maximum))
    default:
      return issue.message
  }
}

function sized(origin: string, bound: string, value: number): string {
  const many = value === 1 ? '' : 's'
  if (origin === 'string') return `must have ${bound} ${value} character${many}`
  if (origin === 'array') return `must have ${bound} ${value} item${many}`
  return `must be ${bound} ${value}`
}

function article(type: string): string {
  if (type === 'int') return 'a whole number'
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`
}

function unique(faults: readonly Fault[]): Fault[] {
  return [...new Map(faults.map((fault) => [`${fault.pointer} ${fault.code}`, fault])).values()]
}
