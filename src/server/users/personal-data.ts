import sql, { join, raw, type Sql } from 'sql-template-tag'
import { parseJsonOrNull } from '../../codec/json-text.ts'
import { isStorableText } from '../../codec/unicode-text.ts'
import type { PersonalSection } from '../../contract/constants.ts'
import type { PersonalRecord, User } from '../../contract/users.ts'
import type { Cell, Database, Row } from '../database/database.ts'
import { timeOfId } from '../database/id.ts'
import { invalidCursor, type Page, readCursor, where, writeCursor } from '../database/page.ts'
import { hintsOf, identifiersOf } from './identifiers.ts'

const sort = 'personal'

interface Position {
  readonly section: PersonalSection
  readonly after: readonly Cell[] | null
}

/** A page may have fewer records than its limit. */
export async function readPersonalData(
  database: Database,
  user: User,
  { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
): Promise<Page<PersonalRecord>> {
  const person: Person = { id: user.id, hints: hintsOf(await identifiersOf(database, user)) }
  const names = Object.keys(sections) as PersonalSection[]
  const [first = 'user'] = names
  let { section, after } = cursor === undefined ? { section: first, after: null } : positionIn(cursor)
  const data: PersonalRecord[] = []
  for (;;) {
    const { rows, next } = await readSection(database, section, { person, after, limit: limit - data.length })
    data.push(...rows.map((record) => ({ section, record })))
    const following = names[names.indexOf(section) + 1]
    if (next) return { data, nextCursor: cursorAt({ section, after: next }) }
    if (following === undefined) return { data, nextCursor: null }
    section = following
    after = null
    if (data.length === limit) return { data, nextCursor: cursorAt({ section, after }) }
  }
}

interface SectionPage {
  readonly rows: readonly Record<string, unknown>[]
  readonly next: readonly Cell[] | null
}

async function readSection(
  database: Database,
  name: PersonalSection,
  { person, after, limit }: Pick<Position, 'after'> & { readonly person: Person; readonly limit: number },
): Promise<SectionPage> {
  const {
    table,
    shown,
    more = {},
    joined,
    of,
    key,
    joinedKeys,
    maxRows = limit,
    read,
    json = [],
    show,
  } = sections[name]
  if (read) return { rows: [camelCased(await read(database, person))], next: null }
  const terms = join(key.map((column) => raw(column)))
  const outer = joinedKeys !== undefined && after !== null ? key.slice(0, joinedKeys) : []
  const count = Math.min(limit, maxRows)
  const found = await database.all(sql`
    select ${join([
      ...shown.map((column) => raw(`r.${column}`)),
      ...Object.entries(more).map(([as, value]) => sql`${value} as ${raw(as)}`),
      ...key.map((column, index) => raw(`${column} as key_${index}`)),
    ])}
    from ${raw(table)} r ${joined ?? raw('')}
    ${where([
      of(person),
      outer.length > 0 &&
        sql`(${join(outer.map((column) => raw(column)))}) >= (${join((after ?? []).slice(0, outer.length))})`,
      after !== null && sql`(${terms}) > (${join([...after])})`,
    ])}
    order by ${terms} limit ${count + 1}`)
  const last = found.length > count ? found[count - 1] : undefined
  const keyOf = (row: Row) => key.map((_, index) => row[`key_${index}`] ?? null)
  const rows = found.slice(0, count).map((row) => {
    const values = Object.fromEntries(Object.entries(row).filter(([column]) => !/^key_\d+$/.test(column)))
    const shownRow = show?.(values) ?? values
    return camelCased({
      ...shownRow,
      ...Object.fromEntries(json.map((column) => [column, parsed(values[column])])),
    })
  })
  return { rows, next: last ? keyOf(last) : null }
}

function parsed(value: Cell | undefined): unknown {
  return typeof value === 'string' ? (parseJsonOrNull(value) ?? value) : null
}

function camelCased(row: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const name = (column: string) => column.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
  return Object.fromEntries(Object.entries(row).map(([column, value]) => [name(column), value]))
}

function cursorAt({ section, after }: Position): string {
  return writeCursor(sort, section, JSON.stringify(after))
}

/** Throws 400 `invalid_cursor`. */
function positionIn(cursor: string): Position {
  const [section, text] = readCursor(cursor, sort, 2)
  const after = parseJsonOrNull(String(text))
  if (!Object.hasOwn(sections, String(section))) throw invalidCursor()
  const name = String(section) as PersonalSection
  const isKey =
    after === null ||
    (Array.isArray(after) && after.length === sections[name].key.length && after.every(isCell))
  if (!isKey) throw invalidCursor()
  return { section: name, after: after as Cell[] | null }
}

function isCell(value: unknown): boolean {
  return typeof value === 'string' ? isStorableText(value) : typeof value === 'number'
}

interface Section {
  readonly table: string
  readonly shown: readonly string[]
  readonly json?: readonly string[]
  readonly more?: Readonly<Record<string, Sql>>
  readonly joined?: Sql
  readonly of: (person: Person) => Sql
  /** Unique among the rows of a person, in the order of the index. */
  readonly key: readonly string[]
  /** Leading columns of the key that belong to the joined table. */
  readonly joinedKeys?: number
  /** Maximum rows of a page, for rows that may be large. */
  readonly maxRows?: number
  readonly show?: (row: Row) => Record<string, unknown>
  /** Reads the only record of a section without rows of its own. */
  readonly read?: (database: Database, person: Person) => Promise<Record<string, unknown>>
}

/** `hints` are what stored deliveries without a user may call the person. */
interface Person {
  readonly id: string
  readonly hints: readonly string[]
}

const own = ({ id }: Person) => sql`r.user_id = ${id}`
const enrollment =
  'id course_id role status enrolled_at completed_at source managed_by version created_at updated_at'
const progress =
  'course_id percentage status started_at last_accessed completed_at version updated_at risen_at'
const step = 'course_id version percentage status last_accessed recorded_at'
const grade =
  'id course_id source item_id label score_given score_maximum weight graded_at version created_at updated_at cleared published delivery_id'
const gradeStep =
  'grade_id version score_given score_maximum graded_at recorded_at recorded_by cleared published delivery_id'

const delivery = {
  table: 'webhook_deliveries',
  shown: columns(
    'id lms_kind delivery_key event status reason detail missing course_id item_id grade_id learner_hint body replays received_at processed_at',
  ),
  json: ['missing', 'body'],
  key: ['r.id'],
  maxRows: 10,
} as const
const entry = {
  table: 'audit_entries',
  shown: columns('id user_id action subject_id about_id origin details change_id'),
  key: ['r.id'],
  show: showEntry,
} as const

/** In the order of the export. A test names each column that is left out. */
export const sections: Readonly<Record<PersonalSection, Section>> = {
  user: {
    table: 'users',
    shown: columns(
      'id external_id email username role status profile managed_by version created_at updated_at',
    ),
    json: ['profile'],
    more: { has_password: sql`case when r.password_hash is null then 0 else 1 end` },
    of: ({ id }) => sql`r.id = ${id}`,
    key: ['r.id'],
    show: ({ has_password: hasPassword, ...row }) => ({ ...row, has_password: Number(hasPassword) === 1 }),
  },
  apiKeys: {
    table: 'api_keys',
    shown: columns('id name last4 scopes expires_at created_at last_used_at revoked_at'),
    json: ['scopes'],
    of: own,
    key: ['r.created_at', 'r.id'],
  },
  calendars: {
    table: 'calendars',
    shown: columns('id course_id last4 created_at'),
    of: own,
    key: ['r.id'],
  },
  sessions: {
    table: 'browser_sessions',
    shown: columns('id browser place wrong_codes created_at expires_at'),
    of: own,
    key: ['r.created_at', 'r.id'],
  },
  grants: {
    table: 'grants',
    shown: columns('id client_id scopes created_at expires_at last_used_at revoked_at'),
    json: ['scopes'],
    more: { client_name: sql`(select name from oauth_clients where id = r.client_id)` },
    of: own,
    key: ['r.created_at', 'r.id'],
  },
  storedResponses: {
    table: 'idempotency',
    shown: columns('method path key status created_at'),
    of: own,
    key: ['r.method', 'r.path', 'r.key'],
  },
  enrollments: {
    table: 'enrollments',
    shown: columns(enrollment),
    more: { course_title: titleIn('courses') },
    of: own,
    key: ['r.course_id', 'r.role'],
  },
  progress: { table: 'progress', shown: columns(progress), of: own, key: ['r.course_id'] },
  progressHistory: {
    table: 'progress_steps',
    shown: columns(step),
    of: own,
    key: ['r.course_id', 'r.version'],
  },
  grades: {
    table: 'grades',
    shown: columns(grade),
    of: own,
    key: ['r.course_id', 'r.source', 'r.item_id'],
  },
  gradeHistory: {
    table: 'grade_steps',
    shown: columns(gradeStep),
    joined: sql`join grades g on g.id = r.grade_id`,
    of: ({ id }) => sql`g.user_id = ${id}`,
    key: ['g.course_id', 'g.source', 'g.item_id', 'r.version'],
    joinedKeys: 3,
  },
  gradeResults: {
    table: 'results',
    shown: columns('grade_id sourced_id score_status score comment'),
    joined: sql`join grades g on g.id = r.grade_id`,
    of: ({ id }) => sql`g.user_id = ${id}`,
    key: ['g.course_id', 'g.source', 'g.item_id'],
  },
  courseGrades: {
    table: 'course_grades',
    shown: columns('course_id percent updated_at'),
    of: own,
    key: ['r.course_id'],
  },
  memberships: {
    table: 'group_members',
    shown: columns('id group_id added_at'),
    more: { group_name: sql`(select name from groups where id = r.group_id)` },
    of: own,
    key: ['r.id'],
  },
  createdCourses: {
    table: 'courses',
    shown: columns('id external_id title created_at'),
    of: ({ id }) => sql`r.created_by = ${id}`,
    key: ['r.id'],
  },
  deletedEnrollments: {
    table: 'deleted_enrollments',
    shown: columns(enrollment),
    more: { course_title: titleIn('deleted_courses') },
    of: own,
    key: ['r.course_id', 'r.id'],
  },
  deletedProgress: { table: 'deleted_progress', shown: columns(progress), of: own, key: ['r.course_id'] },
  deletedProgressHistory: {
    table: 'deleted_progress_steps',
    shown: columns(step),
    joined: sql`join deleted_progress p on p.course_id = r.course_id and p.user_id = r.user_id`,
    of: ({ id }) => sql`p.user_id = ${id}`,
    key: ['p.course_id', 'r.version'],
    joinedKeys: 1,
  },
  deletedGrades: { table: 'deleted_grades', shown: columns(grade), of: own, key: ['r.id'] },
  deletedGradeHistory: {
    table: 'deleted_grade_steps',
    shown: columns(gradeStep),
    joined: sql`join deleted_grades g on g.id = r.grade_id`,
    of: ({ id }) => sql`g.user_id = ${id}`,
    key: ['g.id', 'r.version'],
    joinedKeys: 1,
  },
  deletedGradeResults: {
    table: 'deleted_results',
    shown: columns('grade_id sourced_id score_status score comment'),
    joined: sql`join deleted_grades g on g.id = r.grade_id`,
    of: ({ id }) => sql`g.user_id = ${id}`,
    key: ['g.id'],
  },
  deletedCourseGrades: {
    table: 'deleted_course_grades',
    shown: columns('course_id percent updated_at'),
    of: own,
    key: ['r.course_id'],
  },
  deletedMemberships: {
    table: 'deleted_group_members',
    shown: columns('id group_id added_at'),
    more: { group_name: sql`(select name from deleted_groups where id = r.group_id)` },
    of: own,
    key: ['r.group_id', 'r.id'],
  },
  deletedCreatedCourses: {
    table: 'deleted_courses',
    shown: columns('id external_id title created_at'),
    of: ({ id }) => sql`r.created_by = ${id}`,
    key: ['r.id'],
  },
  mappings: {
    table: 'integration_mappings',
    shown: columns('id lms_kind noun external_key version created_at updated_at'),
    of: ({ id }) => sql`r.target_id = ${id}`,
    key: ['r.lms_kind', 'r.created_at', 'r.id'],
  },
  deliveries: { ...delivery, of: own },
  unmatchedDeliveries: {
    ...delivery,
    of: ({ hints }) => sql`r.user_id is null and r.learner_hint in (${join(hints)})`,
  },
  webhookMessages: { table: 'webhook_messages', shown: [], of: own, key: [], read: countMessages },
  changes: {
    table: 'changes',
    shown: columns('id command source undoes state created_at ended_at'),
    of: own,
    key: ['r.id'],
  },
  // Without the details, which may be about other people.
  actions: {
    table: 'audit_entries',
    shown: columns('id credential action subject_id about_id origin change_id'),
    of: own,
    key: ['r.id'],
    show: ({ origin, ...row }) => ({ ...row, at: timeOfId(String(row['id'])), ...originIn(origin) }),
  },
  accountEntries: { ...entry, of: ({ id }) => sql`r.subject_id = ${id}` },
  relatedEntries: { ...entry, of: ({ id }) => sql`r.about_id = ${id}` },
}

function columns(names: string): readonly string[] {
  return names.split(' ')
}

function titleIn(table: 'courses' | 'deleted_courses'): Sql {
  return sql`(select title from ${raw(table)} where id = r.course_id)`
}

/** Parts of a stored origin and of stored details that are about a person; null once erased. */
type Origin = [salt: string, address: string | null, userAgent: string | null]
type Details = [salt: string, requestId: string | null, name: string | null, before: unknown, after: unknown]

function originIn(origin: Cell | undefined): Record<string, unknown> {
  const [, address, userAgent] = storedArray<Origin>(origin) ?? [null, null, null]
  return { address, user_agent: userAgent }
}

/** The network address is that of the actor, so only that of an unknown one is shown. */
function showEntry({ origin, details, ...row }: Row): Record<string, unknown> {
  const [, request, name, before, after] = storedArray<Details>(details) ?? [null, null, null, null, null]
  return {
    ...row,
    at: timeOfId(String(row['id'])),
    ...(row['user_id'] === null && originIn(origin)),
    request_id: request,
    subject_name: name,
    before,
    after,
  }
}

function storedArray<Stored>(text: Cell | undefined): Stored | null {
  const value = typeof text === 'string' ? parseJsonOrNull(text) : null
  return Array.isArray(value) ? (value as Stored) : null
}

async function countMessages(database: Database, { id }: Person): Promise<Record<string, unknown>> {
  const count = async (condition: Sql) => {
    const row = await database.one<Row & { rows: number }>(sql`
      select count(*) as rows from webhook_messages where ${condition} and subject = ${id}`)
    return Number(row?.rows ?? 0)
  }
  return {
    pending: await count(sql`due_at is not null`),
    finished: await count(sql`(lease is not null or step > 0 or due_at is null) and due_at is null`),
  }
}
