import type { Caller } from '../../client/caller.ts'
import { ApiError, NotOfferedError, ProtocolError } from '../../client/errors.ts'
import { letters, memberAt, stepsOf } from '../../client/platform/fields.ts'
import type {
  DescribedOperation,
  Lists,
  NextPage,
  Place,
  PlatformFile,
} from '../../client/platform/platform-file.ts'
import { isJsonObject, type JsonObject, parseJsonOrNull } from '../../codec/json-text.ts'
import { isDay, isInstant } from '../../codec/time-text.ts'
import { type Call, calls } from '../../contract/calls.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { loadYaml } from '../output/formats/documents.ts'
import { ExitWith, UsageError } from '../terminal/errors.ts'

/** A field of an operation, and where a platform has it. */
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

/** Reading operations, and the fields that learnctl needs of them most. */
const questions: readonly (readonly [operation: Call, kind: string, fields: readonly string[]])[] = [
  [calls.courses.list, 'course', ['id', 'title', 'externalId', 'status']],
  [calls.lessons.list, 'lesson', ['id', 'courseId', 'title']],
  [calls.users.list, 'user', ['id', 'email', 'externalId', 'role']],
  [calls.users.profile, 'user', ['id', 'email', 'role']],
  [calls.analytics.learners, 'learner', ['learnerId', 'courseId', 'completionPercentage', 'lastAccessed']],
]

/** Other names of fields on platforms, by their letters. A person reads what is found by them. */
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
  courseId: ['course', 'coursekey', 'courseno', 'classid'],
  learnerId: ['userid', 'studentid', 'personid', 'personno', 'user', 'student', 'id'],
  completionPercentage: ['percent', 'percentage', 'progress', 'ratio', 'completion', 'percentcomplete'],
  lastAccessed: ['lastaccess', 'lastseen', 'lastactivity', 'lastactivityat', 'timestamp', 'ts', 'updated'],
}

/** Fields that a platform may lack. */
const optional: ReadonlySet<string> = new Set(['externalId', 'status', 'role'])

const nextNames = ['next', 'nextlink', '@odata.nextlink', 'nexturl', 'nextpageurl']
const maxBytes = 4 * 1024 * 1024

/** Compares the reading operations of a platform with its file, or with the rules; prints a file to begin with as YAML. */
export async function checkPlatform(context: Context, given: Given): Promise<void> {
  const { session, settings, output } = context
  if (session.target().kind === 'local') {
    throw new UsageError('A local academy needs no platform file')
  }
  const caller = await session.caller()
  const file = await session.platform()
  const findings: Finding[] = []
  let lists: Lists = file?.lists ?? {}
  /** Places of lists that the rules do not find, by operation. */
  const places = new Map<string, string>()
  for (const [operation, kind, fields] of questions) {
    if (file?.operations?.[operation.id] === 'not offered') continue
    const body = await bodyOf(context, caller, operation, file)
    if (caller.isOurs()) return output.done('A learnctl server, which needs no platform file')
    const described = describedIn(file?.operations?.[operation.id]).items ?? file?.lists?.items
    const items = operation.list ? (described ?? placeOfList(body, operation)) : ''
    if (described === undefined && items && !isUsualList(items, operation)) places.set(operation.id, items)
    const next = lists.next ? null : nextIn(body)
    if (next !== null) lists = { ...lists, next }
    const found = items === null ? undefined : memberAt(body, stepsOf(items))
    const row = Array.isArray(found) ? found[0] : operation.list ? undefined : recordIn(found, kind)
    if (body === undefined) continue
    if (operation.list && items !== null && row === undefined) {
      await output.note(`${operation.id}: no rows to look at`)
      continue
    }
    for (const field of fields) {
      findings.push({
        operation: operation.id,
        field,
        ...findField(row, kind, field, file?.records?.[kind]?.[field]),
      })
    }
  }
  if (given.flags['write-test'] === true) findings.push(...(await writeTest(context, caller)))
  const isFile = settings.output.value === 'yaml'
  if (isFile) await output.text((await loadYaml()).one(fileFrom(findings, lists, places, file)))
  else {
    const columns = ['operation', 'field', 'found', 'value', 'fits']
    await output.list([findings], { table: columns, paths: columns })
  }
  const isDescribed = ({ field, fits }: Finding) =>
    fits === 'yes' || (fits === 'missing' && optional.has(field))
  if (findings.every(isDescribed)) return
  if (!isFile) await output.note('For a platform file to begin with: learnctl profiles check -o yaml')
  throw new ExitWith('failure')
}

/** Returns the JSON that a platform answers; undefined if it refuses, or answers something else. */
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
      signal: io.signal,
    })
    let text = ''
    for await (const piece of reply.body ?? []) {
      text += Buffer.from(piece).toString('utf8')
      if (text.length > maxBytes) break
    }
    return parseJsonOrNull(text) ?? undefined
  } catch (error) {
    if (!(error instanceof ApiError || error instanceof ProtocolError)) throw error
    if (error instanceof ApiError && error.status === 401) throw error
    await output.note(`${id}: ${error.message}`)
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
    const step = name.replaceAll('~', '~0').replaceAll('/', '~1')
    const found = placeOfList(body[name], operation, `${place}/${step}`, depth - 1)
    if (found !== null) return found
  }
  return null
}

/** Returns the record of a body, which may stand under `data` or its name. */
function recordIn(body: unknown, kind: string): unknown {
  const inside = isJsonObject(body)
    ? Object.keys(body).filter((name) => ['data', kind].includes(letters(name)))
    : []
  const [name] = inside
  return isJsonObject(body) && name !== undefined && !('id' in body) ? body[name] : body
}

/** True for a place where the rules look for a list. */
function isUsualList(place: string, { path }: Operation): boolean {
  const usual = ['data', 'items', 'results', letters(path.split('/').at(-1) ?? '')]
  return stepsOf(place).length <= 1 && usual.includes(letters(place.slice(1)))
}

function nextIn(body: unknown): NextPage | null {
  if (!isJsonObject(body)) return null
  const name = Object.keys(body).find(
    (key) => nextNames.includes(letters(key)) && typeof body[key] === 'string',
  )
  if (name !== undefined && letters(name) !== 'next') return { url: `/${name}` }
  const page = Object.keys(body).find((key) => /^(total_?pages|page_?count|last_?page|pages)$/i.test(key))
  return page === undefined ? null : { page: 'page', first: 1, last: `/${page}` }
}

/** Finds a field in a record: where the file says, by the letters of its name, or under another name. */
function findField(
  row: unknown,
  kind: string,
  field: string,
  described: Place | undefined,
): Pick<Finding, 'found' | 'value' | 'fits'> {
  const absent = { found: null, value: null, fits: 'missing' } as const
  if (described !== undefined) {
    const found = typeof described === 'string' ? described : described.at
    const value = memberAt(row, stepsOf(found))
    return value === undefined ? { ...absent, found } : { found, value: kindOf(value), fits: 'yes' }
  }
  const own =
    field === 'id'
      ? [field, letters(`${kind}Id`)]
      : field === 'learnerId'
        ? [letters(field), 'id']
        : [letters(field)]
  for (const name of own) {
    const found = placeNamed(row, name, 0)
    if (found)
      return {
        found,
        value: kindOf(memberAt(row, stepsOf(found))),
        fits: isReadable(field, row, found) ? 'yes' : 'guess',
      }
  }
  for (const name of [...own, ...(otherNames[field] ?? [])]) {
    const found = placeNamed(row, name, 1)
    if (found) return { found, value: kindOf(memberAt(row, stepsOf(found))), fits: 'guess' }
  }
  return absent
}

function placeNamed(row: unknown, name: string, depth: number): string | null {
  if (!isJsonObject(row)) return null
  const key = Object.keys(row).find((each) => letters(each) === name)
  if (key !== undefined) return `/${key}`
  if (depth === 0) return null
  for (const [outer, value] of Object.entries(row)) {
    const inner = placeNamed(value, name, depth - 1)
    if (inner) return `/${outer}${inner}`
  }
  return null
}

function isReadable(field: string, row: unknown, place: string): boolean {
  return field !== 'lastAccessed' || kindOf(memberAt(row, stepsOf(place))) !== 'Unix time'
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'list'
  if (typeof value === 'number')
    return value > 1e8 ? 'Unix time' : value > 0 && value < 1 ? 'ratio' : 'number'
  if (typeof value !== 'string') return typeof value
  return isDay(value.slice(0, 10)) ? (isInstant(value) ? 'time' : 'time without a zone') : 'text'
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
    const how =
      value === 'Unix time' ? { time: 'unix-seconds' as const } : value === 'ratio' ? { of: 1 } : null
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

/** Creates, changes and deletes a course, and reports what the answers showed. */
async function writeTest({ io: { signal }, output }: Context, caller: Caller): Promise<Finding[]> {
  const findings: Finding[] = []
  const title = 'learnctl write test'
  const attempt = async (operation: Call, write: () => Promise<{ readonly id: string | null }>) => {
    const seen = { operation: operation.id, field: 'id', found: null, value: null }
    try {
      const { id } = await write()
      findings.push({ ...seen, fits: 'yes' })
      return id
    } catch (error) {
      if (!(error instanceof ApiError || error instanceof ProtocolError || error instanceof NotOfferedError))
        throw error
      await output.note(`${operation.id}: ${error.message}`)
      findings.push({ ...seen, fits: 'missing' })
      return null
    }
  }
  const { create, update, delete: remove } = calls.courses
  const courseId = await attempt(create, () => caller.write(create, { body: { title }, signal }))
  if (courseId === null) {
    await output.note(`A course named ${title} may be there; if so, delete it on the platform`)
    return findings
  }
  await attempt(update, () =>
    caller.write(update, { params: { courseId }, body: { title: `${title} 2` }, signal }),
  )
  const before = findings.length
  await attempt(remove, () => caller.write(remove, { params: { courseId }, signal }))
  if (findings[before]?.fits !== 'yes')
    await output.note(`Course ${courseId} was not deleted; delete it on the platform`)
  return findings
}
