import { phraseOf, statusOf, whenOf } from '../src/contract/errors.ts'
import { type Contract, contract } from '../src/contract/index.ts'
import { operationExamples } from '../src/contract/openapi/examples.ts'
import { openapiOf } from '../src/contract/openapi/openapi.ts'
import { problemCodes } from '../src/contract/openapi/responses.ts'
import { partsOf, type Schema } from '../src/contract/openapi/schemas.ts'
import type { Operation } from '../src/contract/operation.ts'
import { code, table, text } from './markdown.ts'

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required: boolean
  readonly description: string
  readonly schema: Schema
}

interface Described {
  readonly description: string
  readonly parameters: readonly Parameter[]
  readonly 'x-roles'?: readonly string[]
}

interface Document {
  readonly tags: readonly {
    readonly name: string
    readonly 'x-displayName': string
    readonly description: string
  }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

// openapiOf() returns JSON without a type.
const document = openapiOf() as unknown as Document
const { schemas } = document.components

/** Schemas of what a resource shows and accepts, by name. */
const resources: Readonly<Partial<Record<keyof Contract, readonly [shown: string, sent?: string]>>> = {
  courses: ['Course', 'CourseInput'],
  lessons: ['Lesson', 'LessonInput'],
  users: ['User', 'UserInput'],
  enrollments: ['Enrollment', 'EnrollmentInput'],
  progress: ['Progress', 'ProgressInput'],
  analytics: ['LearnerRow'],
  keys: ['NewKey', 'KeyInput'],
  apps: ['NewApp', 'AppInput'],
  grants: ['Grant'],
}

/** Parameters of nearly every list, which the introduction describes once. */
const usual = [
  ...['limit', 'cursor', 'include_total', 'Idempotency-Key', 'If-Match', 'If-None-Match', 'Prefer'],
  ...['Change-Id', 'Change-Command'],
]

/** Returns the reference of the HTTP API in Markdown: a section for each resource, and the error codes. */
export function apiText(): string {
  return [...document.tags.map(resourceText), errorsText()].join('\n\n')
}

function resourceText({ name, description, 'x-displayName': title }: Document['tags'][number]): string {
  // Tags are the resources of the contract.
  const noun = name as keyof Contract
  const operations: Operation[] = Object.values(contract[noun])
  const rows = operations.map((operation) => [
    `[${operation.summary}](#${anchorOf(operation.summary)})`,
    code(`${operation.method} ${operation.path}`),
    operation.scope === null ? 'none' : code(operation.scope),
  ])
  const [shown, sent] = resources[noun] ?? []
  return [
    `### ${title}`,
    description,
    table(['Operation', 'Request', 'Scope'], rows),
    ...(shown === undefined
      ? []
      : [fieldsText(schemas[shown] ?? {}, sent === undefined ? undefined : schemas[sent])]),
    ...operations.map(operationText),
  ].join('\n\n')
}

/** Returns a row for each field, with what a request may do with it. */
function fieldsText(shown: Schema, sent: Schema | undefined): string {
  const fields = (schema: Schema) =>
    new Map(partsOf(schema).filter(([path]) => path !== '' && !path.endsWith('[]')))
  const [answered, taken] = [fields(shown), fields(sent ?? {})]
  const paths = [...new Set([...answered.keys(), ...taken.keys()])]
  const rows = paths.map((path) => {
    const [response, request] = [answered.get(path), taken.get(path)]
    const part = request ?? response ?? {}
    const notes = [
      typeOf(part),
      ...(request && isRequired(sent ?? {}, path) ? ['required'] : []),
      ...(sent && !request ? ['read-only'] : []),
      ...(response ? [] : ['write-only']),
    ]
    return [code(path), notes.join(', '), text(part.description ?? '')]
  })
  return table(['Field', 'Type', 'Meaning'], rows)
}

function isRequired(schema: Schema, path: string): boolean {
  const names = schema['required']
  return Array.isArray(names) && names.includes(path)
}

function typeOf(schema: Schema): string {
  const { $ref, anyOf, enum: choices, items, type } = schema
  if (typeof $ref === 'string') return typeOf(schemas[$ref.split('/').at(-1) ?? ''] ?? {})
  if (choices)
    return choices
      .filter((choice) => choice !== null)
      .map((choice) => code(String(choice)))
      .join(' ')
  if (anyOf) return [...new Set(anyOf.map(typeOf))].join(' or ')
  if (items) return `list of ${plural(typeOf(items))}`
  const [name = 'any'] = [type ?? []].flat()
  const orNull = Array.isArray(type) && type.includes('null') ? ' or null' : ''
  const format = schema['format'] === 'date-time' ? 'time' : schema['format'] === 'uri' ? 'URL' : name
  return `${format === 'boolean' ? 'true or false' : format === 'string' ? 'text' : format}${orNull}${rangeOf(schema)}`
}

function plural(type: string): string {
  return { object: 'objects', text: 'texts', time: 'times', URL: 'URLs' }[type.replace(/ .*/, '')] ?? type
}

const int32 = 2_147_483_647

function rangeOf({ minimum, maximum, maxLength, format }: Schema): string {
  if (typeof maxLength === 'number' && format === undefined)
    return `, up to ${maxLength.toLocaleString('en')} characters`
  if (typeof minimum !== 'number' || typeof maximum !== 'number' || maximum === int32) return ''
  return ` ${minimum}–${maximum.toLocaleString('en')}`
}

function operationText(operation: Operation): string {
  const { id, method, path, summary, published } = operation
  const {
    description,
    parameters,
    'x-roles': roles,
  } = document.paths[path]?.[method.toLowerCase()] ?? {
    description: '',
    parameters: [],
  }
  const own = parameters.filter(({ name, in: place }) => place !== 'path' && !usual.includes(name))
  const rows = own.map(({ name, required, schema, description }) => [
    code(name),
    [typeOf(schema), ...(required ? ['required'] : [])].join(', '),
    text(description),
  ])
  const codes = (problemCodes[id] ?? []).map((name) => `${code(name)} (${statusOf[name]})`)
  const facts = [
    ...(roles && roles.length < 4 ? [`Roles: ${roles.join(', ')}.`] : []),
    ...(published ? ['Part of the published interface.'] : []),
    ...(codes.length > 0 ? [`Errors: ${codes.join(', ')}.`] : []),
  ]
  return [
    `#### ${summary}`,
    description,
    ...(facts.length > 0 ? [facts.join(' ')] : []),
    ...(rows.length > 0 ? [table(['Parameter', 'Type', 'Meaning'], rows)] : []),
    ...exampleText(operation),
  ].join('\n\n')
}

/** Returns the example of a request with a body, or of an operation whose response is shown in full; the OpenAPI document has all. */
function exampleText(operation: Operation): string[] {
  const { id, method, status } = operation
  const { body, response } = operationExamples[id] ?? {}
  const isShown = inFull.has(id) && response !== undefined
  if (body === undefined && !isShown) return []
  const request = [`${method} ${filledPath(operation)}`, ...(body === undefined ? [] : [json(body)])]
  const reply = `HTTP/1.1 ${status} ${status === 201 ? 'Created' : 'OK'}\n\n${json(shortened(id, response))}`
  return [`\`\`\`http\n${[...request, ...(isShown ? [reply] : [])].join('\n\n')}\n\`\`\``]
}

function filledPath({ id, path }: Operation): string {
  const { parameters = {} } = operationExamples[id] ?? {}
  const query = Object.entries(parameters).filter(([name]) => !path.includes(`{${name}}`))
  const target = path.replaceAll(/\{(\w+)\}/g, (name, thing: string) => parameters[thing] ?? name)
  return query.length === 0 ? target : `${target}?${query.map((pair) => pair.join('=')).join('&')}`
}

/** Operations whose responses are shown. */
const inFull = new Set([
  ...[
    'courses.get',
    'courses.update',
    'courses.diff',
    'lessons.create',
    'users.create',
    'users.batch',
    'enrollments.get',
  ],
  ...['progress.set', 'progress.batch', 'analytics.learners', 'keys.create', 'apps.create', 'grants.list'],
])

/** Shortens a page to its first item, and long records. */
function shortened(id: string, value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.length > 1 && id !== 'results' && typeof value[0] === 'object'
      ? [shortened(id, value[0]), '…']
      : value.map((item) => shortened(id, item))
  }
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value)
  const isPage = 'data' in value || 'results' in value
  if (isPage)
    return Object.fromEntries(
      members.map(([name, item]) => [name, shortened(name === 'results' ? name : id, item)]),
    )
  if (members.length <= 8 || inFull.has(id)) {
    return Object.fromEntries(
      members.map(([name, item]) => [name, isRecord(item) ? shortened('', item) : item]),
    )
  }
  return { ...Object.fromEntries(members.slice(0, 4)), '…': '…' }
}

/** True for a record with many fields. */
function isRecord(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 8
}

/** Formats JSON for a page: a short list or object stays on one line. */
function json(value: unknown, indent = ''): string {
  const flat = oneLine(value)
  if (flat.length + indent.length <= 96 || typeof value !== 'object' || value === null) return flat
  const inner = `${indent}  `
  if (Array.isArray(value))
    return `[\n${value.map((item) => inner + json(item, inner)).join(',\n')}\n${indent}]`
  const members = Object.entries(value).map(
    ([name, item]) => `${inner}${JSON.stringify(name)}: ${json(item, inner)}`,
  )
  return `{\n${members.join(',\n')}\n${indent}}`.replaceAll('"…": "…"', '…').replaceAll('"…"', '…')
}

function oneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(oneLine).join(', ')}]`.replaceAll('"…"', '…')
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${oneLine(item)}`)
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`.replaceAll('"…": "…"', '…')
}

function errorsText(): string {
  const rows = Object.entries(statusOf).map(([name, status]) => [
    `${status} ${phraseOf[status]}`,
    code(name),
    text(whenOf[name as keyof typeof whenOf]),
  ])
  return ['### Errors', table(['Status', 'Code', 'When'], rows)].join('\n\n')
}

function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .replaceAll(' ', '-')
}
