import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { isStorableText } from '../../codec/unicode-text.ts'
import type { Fault } from '../../contract/errors.ts'
import { bare, fieldsOf } from '../../contract/fields.ts'
import { isList } from '../../contract/lists.ts'
import type { Body, Operation } from '../../contract/operation.ts'
import { codeOf, detailOf, suggestionText } from '../../contract/validation-issues.ts'
import { invalid, ProblemError, problemsIn } from '../problem-error.ts'
import type { Call, Handler, Handling, Route } from './handler.ts'
import { maxArrayLength, maxDepth, maxMembers, mergePatch, pointerOf } from './request-body.ts'

/** A missing handler does not compile. */
export function routesOf<Group extends Readonly<Record<string, Operation>>>(
  group: Group,
  handlers: { readonly [Verb in keyof Group]: Handler<Group[Verb]> | Handling<Group[Verb]> },
): Route[] {
  return Object.entries(group).map(([verb, operation]) => {
    const handler: unknown = handlers[verb]
    const queryOf = queryParser(operation)
    // The app calls each handler only with its own operation.
    if (typeof handler === 'function') return { operation, queryOf, handle: handler as Route['handle'] }
    return { operation, queryOf, ...(handler as Omit<Route, 'operation' | 'queryOf'>) }
  })
}

/** Maximum length of a query that is cached, and maximum number of them for an operation. */
const cached = { length: 200, count: 100 } as const

/** Caches short queries: most programs repeat few, and validating one takes as long as reading a record. */
function queryParser({ query: schema }: Operation): Route['queryOf'] {
  const bySearch = new Map<string, Record<string, unknown>>()
  return (search) => {
    const known = bySearch.get(search)
    if (known) return known
    const query = Object.freeze(parseQuery(schema, search))
    if (bySearch.size >= cached.count) bySearch.clear()
    if (search.length <= cached.length) bySearch.set(search, query)
    return query
  }
}

/** Throws 422 with all faults. */
export function bodyOf<O extends Operation>(call: Call<O>): Body<O> {
  if (!call.operation.body) throw new TypeError(`${call.operation.id} has no body`)
  return parseBody(call.operation.body, call.rawBody) as Body<O>
}

/**
 * Null means the default, unchanged read-only fields are ignored, and everything else must be known and valid. The fields
 * of `shown` besides `schema` are read-only; an update merges the body into `stored`; `found` are previous faults. Throws
 * 422 with all faults.
 */
export function resourceOf<Schema extends z.ZodObject>(
  { rawBody: body }: Call,
  schema: Schema,
  shown: z.ZodType,
  stored: object = {},
  found: readonly Fault[] = [],
): z.output<Schema> {
  const current = stored as JsonObject
  const fields = fieldsOf(shown) ?? (shown instanceof z.ZodObject ? shown.shape : {})
  const faults = findBoundedFaults(body)
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
  return parseWith(faults, schema, mergePatch(mergePatch({}, writable), sent))
}

/** Throws 422 with all faults. */
export function parseBody<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  return parseWith(findBoundedFaults(body), schema, body)
}

/** Throws 422. */
function parseWith<Schema extends z.ZodType>(
  faults: Faults,
  schema: Schema,
  value: unknown,
): z.output<Schema> {
  const parsed = schema.safeParse(value, { reportInput: true })
  if (!parsed.success) for (const issue of parsed.error.issues) addIssue(faults, issue, schema)
  if (faults.count > 0) throw invalid(faults.reported, faults.more)
  return parsed.data as z.output<Schema>
}

/**
 * Faults that any body can have: nesting deeper than 32, arrays and objects over 1,000 members, and text that is not
 * well-formed Unicode or contains U+0000 (which SQLite would silently change or truncate, and PostgreSQL refuses). Throws
 * 422 for a body that is too deep or too large to validate.
 */
function findBoundedFaults(body: unknown): Faults {
  const faults = new Faults()
  addStructuralFaults(faults, [], body)
  if (faults.reported.some(({ code }) => code === 'too_deep' || code === 'too_many')) {
    throw invalid(faults.reported, faults.more)
  }
  return faults
}

/**
 * Adds faults for unknown fields with the value null: the merge removes them (RFC 7396) before the schema
 * sees them.
 *
 * @param besides further known names
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
    detail: `is not a known field${suggesterFor(faults)(name, known)}`,
  }))
}

/** Throws 400 with all faults, including unknown and repeated parameters. */
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
      // Generated clients may write a list as `status=draft&status=published`.
      if (isList(schema?.shape[name])) given[name] += `,${value}`
      else faults.add({ parameter: name, code: 'repeated', detail: 'must be given only once' })
    } else if (schema && Object.hasOwn(schema.shape, name)) {
      given[name] = value
      // The list validates its cursor.
      if (name !== 'cursor' && !isStorableText(value)) {
        faults.add({ parameter: name, code: 'invalid_string', detail: unstorableText })
      }
    } else {
      const suggestion = suggesterFor(faults)(name, Object.keys(schema?.shape ?? {}))
      const detail = `is not a known parameter${suggestion}`
      faults.add({ parameter: name, code: 'unknown_parameter', detail })
    }
  }
  const parsed = schema?.safeParse(given, { reportInput: true })
  if (parsed?.success === false) {
    faults.addEach(parsed.error.issues, (issue) => ({
      parameter: String(issue.path[0]),
      code: codeOf(issue),
      detail: detailOf(issue, suggesterFor(faults)),
    }))
  }
  if (faults.count === 0) return (parsed?.data ?? {}) as z.output<Schema>
  const { reported, more } = faults
  const unknown = reported.some(({ code }) => code === 'unknown_parameter')
  throw new ProblemError(unknown ? 'unknown_parameter' : 'invalid_parameter', problemsIn(reported, more), {
    errors: reported,
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
    detail: detailOf(issue, suggesterFor(faults)),
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

const maxLookups = 20

/** Stops suggesting names after some faults, because that takes time. */
function suggesterFor({ count }: Faults): typeof suggestionText {
  return count < maxLookups ? suggestionText : () => ''
}

const maxReported = 100
const maxPlaceLength = 200

/**
 * A body of 1 MiB can have 100,000 unknown fields: the first hundred faults are reported, the others counted, and long
 * places truncated, so that the response is never much longer than the request.
 */
class Faults {
  readonly #reported = new Map<string, Fault>()
  #more = 0

  get reported(): readonly Fault[] {
    return [...this.#reported.values()]
  }

  get more(): number {
    return this.#more
  }

  get count(): number {
    return this.#reported.size + this.#more
  }

  add(fault: Fault): void {
    this.addEach([fault], () => fault)
  }

  addEach<Thing>(things: readonly Thing[], faultOf: (thing: Thing) => Fault): void {
    for (const [index, thing] of things.entries()) {
      if (this.#reported.size >= maxReported) {
        this.#more += things.length - index
        return
      }
      const { pointer, parameter, ...fault } = faultOf(thing)
      const place =
        pointer === undefined
          ? { parameter: truncatePlace(parameter ?? '') }
          : { pointer: truncatePlace(pointer) }
      this.#reported.set(`${place.pointer ?? place.parameter} ${fault.code}`, { ...place, ...fault })
    }
  }
}

function truncatePlace(place: string): string {
  return place.length <= maxPlaceLength ? place : `${place.slice(0, maxPlaceLength).toWellFormed()}…`
}

const unstorableText = 'must be well-formed Unicode without U+0000'

/** The path is used as a stack. */
function addStructuralFaults(faults: Faults, path: PropertyKey[], value: unknown): void {
  const add = (code: string, detail: string) => faults.add({ pointer: pointerOf(path), code, detail })
  const addOfMember = (step: PropertyKey, member: unknown) => {
    path.push(step)
    addStructuralFaults(faults, path, member)
    path.pop()
  }
  if (typeof value === 'string') {
    if (!isStorableText(value)) add('invalid_string', unstorableText)
  } else if (Array.isArray(value)) {
    if (path.length >= maxDepth) add('too_deep', tooDeep)
    else if (value.length > maxArrayLength) add('too_long', `must not have more than ${maxArrayLength} items`)
    else for (const [index, item] of value.entries()) addOfMember(index, item)
  } else if (isJsonObject(value)) {
    const names = Object.keys(value)
    if (path.length >= maxDepth) add('too_deep', tooDeep)
    else if (names.length > maxMembers) add('too_many', `must not have more than ${maxMembers} fields`)
    else {
      for (const name of names) {
        if (isStorableText(name)) addOfMember(name, value[name])
        else add('invalid_string', 'has a name that is not well-formed Unicode')
      }
    }
  }
}

const tooDeep = `must not be nested deeper than ${maxDepth}`
