import type { Caller } from '../../client/caller.ts'
import { ApiError, lineOf, NotOfferedError, PlatformError, ProtocolError } from '../../client/errors.ts'
import { letters, memberAt, stepsOf } from '../../client/platform/fields.ts'
import type {
  DescribedOperation,
  Lists,
  NextPage,
  Place,
  PlatformFile,
} from '../../client/platform/platform-schema.ts'
import { isJsonObject, type JsonObject, parseJsonOrNull } from '../../codec/json-text.ts'
import { isDay, isInstant } from '../../codec/time-text.ts'
import { platformName } from '../../config/target.ts'
import { type Call, calls } from '../../contract/calls.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Context } from '../command/context.ts'
import { loadYaml } from '../output/formats/documents.ts'
import { ExitWith, UsageError } from '../terminal/errors.ts'

/** Reading operations, and the fields that learnctl needs of them most. */
const questions: readonly (readonly [operation: Call, kind: string, fields: readonly string[]])[] = [
  [calls.courses.list, 'course', ['id', 'title', 'externalId', 'status']],
  [calls.lessons.list, 'lesson', ['id', 'courseId', 'title']],
  [calls.users.list, 'user', ['id', 'email', 'externalId', 'role']],
  [calls.enrollments.list, 'enrollment', ['courseId', 'userId']],
  [calls.users.profile, 'user', ['id', 'email', 'role']],
  [calls.analytics.learners, 'learner', ['learnerId', 'courseId', 'completionPercentage', 'lastAccessed']],
]

const nextNames = ['next', 'nextlink', '@odata.nextlink', 'nexturl', 'nextpageurl']
const maxBytes = 4 * 1024 * 1024

const columns = ['operation', 'field', 'found', 'value', 'fits']
const shape = { table: columns, paths: columns }

/** Compares it with its file, or with the rules; prints a file to begin with as YAML. */
export async function checkPlatform(context: Context): Promise<void> {
  const { session, settings, output } = context
  if (session.target().kind === 'local') {
    throw new UsageError('A local academy needs no platform file')
  }
  const caller = await session.caller()
  const file = (await session.platform())?.file ?? null
  const findings: Finding[] = []
  let lists: Lists = file?.lists ?? {}
  const places = new Map<string, string>()
  for (const [operation, kind, fields] of questions) {
    if (file?.operations?.[operation.id] === 'not offered') continue
    const body = await bodyOf(context, caller, operation, file)
    if (caller.isOurs()) {
      if (['json', 'jsonl'].includes(settings.output.value)) await output.list([[]], shape)
      return output.done(
        `${platformName(session.target())} is a learnctl server, which needs no platform file`,
      )
    }
    // Platforms need not have more than the published operations.
    if (body === undefined && !operation.published) continue
    const described = describedIn(file?.operations?.[operation.id]).items ?? file?.lists?.items
    const items = operation.list ? (described ?? placeOfList(body, operation)) : ''
    if (described === undefined && items && !isUsualList(items, operation)) places.set(operation.id, items)
    const next = lists.next ? null : nextIn(body)
    if (next !== null) lists = { ...lists, next }
    const found = items === null ? undefined : memberAt(body, stepsOf(items))
    if (Array.isArray(found) && found.length === 0) {
      await output.note(`${operation.id}: no rows to look at`)
      continue
    }
    const { record } = describedIn(file?.operations?.[operation.id])
    const one = record === undefined ? recordIn(found, kind) : memberAt(body, stepsOf(record))
    const rows = Array.isArray(found) ? found : operation.list ? [] : [one]
    const findingsHere = fields.map((field): Finding => {
      const place = file?.records?.[kind]?.[field]
      return { operation: operation.id, field, ...findField(rows, kind, field, place) }
    })
    findings.push(...findingsHere)
    if (findingsHere.every(isDescribed)) findings.push(...(await readAsCommands(context, caller, operation)))
  }
  const isFile = settings.output.value === 'yaml'
  if (isFile) await output.text((await loadYaml()).one(fileFrom(findings, lists, places, file)))
  else await output.list([findings], shape)
  if (findings.every(isDescribed)) return
  if (!isFile) await output.note('For a platform file to begin with: learnctl profiles check -o yaml')
  throw new ExitWith('failure')
}

async function readAsCommands(
  { io: { signal }, output }: Context,
  caller: Caller,
  operation: Call,
): Promise<Finding[]> {
  const refused: Finding[] = []
  const read = async (field: string, call: () => Promise<unknown>) => {
    try {
      await call()
    } catch (error) {
      if (!isReply(error)) throw error
      await output.note(`${operation.id} as ${field} does not fit: ${reasonOf(error)}`)
      refused.push({ operation: operation.id, field, found: null, value: null, fits: 'missing' })
    }
  }
  await read('JSON', () => caller.call<Operation>(operation, { signal }))
  if (operation.media?.includes('text/csv')) {
    await read('CSV', async () => {
      const input = { query: { format: 'csv' }, signal }
      const { body } = await caller.open<Operation>(operation, input, { accept: 'text/csv' })
      for await (const _ of body ?? []) break
    })
  }
  return refused
}

function isReply(error: unknown): error is ApiError | ProtocolError | NotOfferedError {
  return error instanceof ApiError || error instanceof ProtocolError || error instanceof NotOfferedError
}

/** Returns the reason of an error without words of the platform, which may name people. */
function reasonOf(error: ApiError | ProtocolError | NotOfferedError): string {
  if (error instanceof PlatformError) return error.line
  return error instanceof ProtocolError
    ? error.code.replaceAll('_', ' ')
    : `${lineOf(error)} returned ${error.status}`
}

async function bodyOf(
  { io, output }: Context,
  caller: Caller,
  { id, path }: Operation,
  file: PlatformFile | null,
): Promise<unknown> {
  const { path: own, query } = describedIn(file?.operations?.[id])
  try {
    const reply = await caller.send({
      method: 'GET',
      path: own ?? path,
      ...(query && { query }),
      // A learnctl server confirms it, which shows that it is one.
      headers: { prefer: 'handling=strict' },
      signal: io.signal,
    })
    let text = ''
    for await (const piece of reply.body ?? []) {
      text += Buffer.from(piece).toString('utf8')
      if (text.length > maxBytes) break
    }
    const body = parseJsonOrNull(text) ?? undefined
    if (body === undefined) await output.note(`${id}: the response is not JSON`)
    return body
  } catch (error) {
    if (!(error instanceof ApiError || error instanceof ProtocolError)) throw error
    if (error instanceof ApiError && error.status === 401) throw error
    await output.note(`${id}: ${reasonOf(error)}`)
    return undefined
  }
}

/** Returns the place of the first array of objects, at most two objects deep; null without one. */
function placeOfList(body: unknown, operation: Operation, place = '', depth = 2): string | null {
  if (Array.isArray(body)) return body.length === 0 || isJsonObject(body[0]) ? place : null
  if (!isJsonObject(body) || depth < 0) return null
  // The usual names first: other arrays may stand beside the rows.
  const names = Object.keys(body).sort(
    (one, other) => Number(isUsualList(`/${other}`, operation)) - Number(isUsualList(`/${one}`, operation)),
  )
  for (const name of names) {
    const found = placeOfList(body[name], operation, `${place}/${stepText(name)}`, depth - 1)
    if (found !== null) return found
  }
  return null
}

function recordIn(body: unknown, kind: string): unknown {
  const inside = isJsonObject(body)
    ? Object.keys(body).filter((name) => ['data', kind].includes(letters(name)))
    : []
  const [name] = inside
  return isJsonObject(body) && name !== undefined && !('id' in body) ? body[name] : body
}

function isUsualList(place: string, { path }: Operation): boolean {
  const usual = ['data', 'items', 'results', letters(path.split('/').at(-1) ?? '')]
  return stepsOf(place).length <= 1 && usual.includes(letters(place.slice(1)))
}

function nextIn(body: unknown): NextPage | null {
  if (!isJsonObject(body)) return null
  const name = Object.keys(body).find(
    (key) => nextNames.includes(letters(key)) && typeof body[key] === 'string',
  )
  if (name !== undefined) return letters(name) === 'next' ? null : { url: `/${name}` }
  const page = Object.keys(body).find((key) => /^(total_?pages|page_?count|last_?page|pages)$/i.test(key))
  return page === undefined ? null : { page: 'page', first: 1, last: `/${page}` }
}

/** Returns a platform file to begin with: the present one, and what was found under other names. */
function fileFrom(
  findings: readonly Finding[],
  lists: Lists,
  places: ReadonlyMap<string, string>,
  file: PlatformFile | null,
): JsonObject {
  const operations = { ...file?.operations }
  for (const [id, items] of places) operations[id] = { ...describedIn(operations[id]), items }
  const records: Record<string, Record<string, Place>> = structuredClone(file?.records ?? {})
  for (const { operation, field, found, value, fits } of findings) {
    const kind = questions.find(([each]) => each.id === operation)?.[1]
    if (kind === undefined || found === null || fits !== 'guess') continue
    const how = formsByKind[value ?? '']
    records[kind] = { ...records[kind], [field]: how ? { at: found, ...how } : found }
  }
  return {
    learnctlPlatform: 1,
    name: 'My platform',
    ...file,
    ...(Object.keys(lists).length > 0 && { lists }),
    ...(Object.keys(operations).length > 0 && { operations }),
    ...(Object.keys(records).length > 0 && { records }),
  }
}

function describedIn(operation: DescribedOperation | 'not offered' | undefined): DescribedOperation {
  return typeof operation === 'object' ? operation : {}
}

interface Finding {
  readonly operation: string
  readonly field: string
  /** JSON Pointer; null for a field that was not found. */
  readonly found: string | null
  /** Kind of its value, never the value: it may be that of a person. */
  readonly value: string | null
  /** `guess`: found under another name, which a platform file has to say. */
  readonly fits: 'yes' | 'guess' | 'missing'
}

/** Compared by `letters`. They are guesses, which a person checks. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  id: [
    'uuid',
    'guid',
    'key',
    'courseid',
    'coursekey',
    'courseno',
    'userid',
    'personid',
    'personno',
    'lessonid',
    'no',
  ],
  title: ['name', 'displayname', 'fullname', 'coursename', 'coursetitle', 'lessonname', 'label'],
  externalId: ['ref', 'reference', 'sisid', 'sourcedid', 'code', 'shortname', 'idnumber'],
  status: ['state', 'visibility', 'published', 'workflowstate'],
  email: ['mail', 'emails', 'emailaddress', 'primaryemail', 'login', 'username'],
  role: ['type', 'kind', 'roles', 'usertype'],
  userId: ['learnerid', 'studentid', 'personid', 'personno', 'user', 'student'],
  courseId: ['course', 'coursekey', 'courseno', 'classid'],
  learnerId: ['userid', 'studentid', 'personid', 'personno', 'user', 'student', 'id'],
  completionPercentage: ['percent', 'percentage', 'progress', 'ratio', 'completion', 'percentcomplete'],
  lastAccessed: ['lastaccess', 'lastseen', 'lastactivity', 'lastactivityat', 'timestamp', 'ts', 'updated'],
}

const optional: ReadonlySet<string> = new Set(['externalId', 'status', 'role'])

function isDescribed({ field, fits }: Finding): boolean {
  return fits === 'yes' || (fits === 'missing' && optional.has(field))
}

/** Finds a field in records: where the file says, by the letters of its name, or under another name. */
function findField(
  rows: readonly unknown[],
  kind: string,
  field: string,
  described: Place | undefined,
): Pick<Finding, 'found' | 'value' | 'fits'> {
  const kindAt = (place: string) => kindOf(rows.map((row) => memberAt(row, stepsOf(place))))
  if (described !== undefined) {
    const found = typeof described === 'string' ? described : described.at
    const value = kindAt(found)
    return { found, value, fits: value === null ? 'missing' : 'yes' }
  }
  const own = [
    letters(field),
    ...(field === 'id' ? [letters(`${kind}Id`)] : field === 'learnerId' ? ['id'] : []),
  ]
  const find = (names: readonly string[], depth: number) =>
    names.flatMap((name) => rows.map((row) => placeNamed(row, name, depth))).find((place) => place !== null)
  const usual = find(own, 0)
  const found = usual ?? find([...own, ...(otherNames[field] ?? [])], 1)
  if (found === undefined) return { found: null, value: null, fits: 'missing' }
  const value = kindAt(found)
  const isUsual = usual !== undefined && !(field in otherForms && otherForms[field]?.test(value ?? ''))
  return { found, value, fits: isUsual ? 'yes' : 'guess' }
}

const otherForms: Readonly<Record<string, RegExp>> = {
  lastAccessed: /^Unix/,
  completionPercentage: /^ratio$/,
}

/** Returns the place of a member by the letters of its name; the first item of a list, and the `value` inside of it. */
function placeNamed(row: unknown, name: string, depth: number): string | null {
  if (!isJsonObject(row)) return null
  const key = Object.keys(row).find((each) => letters(each) === name)
  if (key !== undefined) return innermost(`/${stepText(key)}`, row[key])
  if (depth === 0) return null
  for (const [outer, value] of Object.entries(row)) {
    const inner = placeNamed(value, name, depth - 1)
    if (inner) return `/${stepText(outer)}${inner}`
  }
  return null
}

function innermost(place: string, value: unknown): string {
  const [first] = Array.isArray(value) ? value : []
  if (first === undefined) return place
  return isJsonObject(first) && 'value' in first ? `${place}/0/value` : `${place}/0`
}

function stepText(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}

function kindOf(values: readonly unknown[]): string | null {
  const set = values.filter((value) => value !== undefined && value !== null)
  const [value] = set
  if (value === undefined) return values.includes(null) ? 'null' : null
  if (set.every((each) => typeof each === 'number')) {
    if (set.every((each) => each > 1e11)) return 'Unix time in milliseconds'
    if (set.every((each) => each > 1e8)) return 'Unix time'
    return set.every((each) => each >= 0 && each <= 1) && set.some((each) => each % 1 > 0)
      ? 'ratio'
      : 'number'
  }
  if (Array.isArray(value)) return 'list'
  if (typeof value !== 'string') return typeof value
  return isDay(value.slice(0, 10)) ? (isInstant(value) ? 'time' : 'time without a zone') : 'text'
}

const formsByKind: Readonly<Record<string, Omit<Exclude<Place, string>, 'at'>>> = {
  'Unix time': { time: 'unix-seconds' },
  'Unix time in milliseconds': { time: 'unix-milliseconds' },
  ratio: { of: 1 },
}
