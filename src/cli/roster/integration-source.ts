import { createHash } from 'node:crypto'
import { formatCount } from '../../codec/display-text.ts'
import { type JsonObject, jsonText } from '../../codec/json-text.ts'
import { type LmsKind, type RecordPart, recordParts } from '../../contract/constants.ts'
import type { Context } from '../command/context.ts'
import { courses } from '../dataset/courses.ts'
import { grades } from '../dataset/grades.ts'
import { addSchemaProblems, enrollmentEntries, entryOf, namedColumns, termEntries } from './entries.ts'
import { createFindings, type FindingsCollector } from './findings.ts'
import { createGroups } from './groups.ts'
import { peopleTable, personEntries } from './people.ts'
import { type PulledRecords, pullRecords } from './pull-records.ts'
import { type RosterEntry, type RosterPart, type RosterSource, rosterParts } from './roster.ts'
import { RosterRow, type RowFile } from './row.ts'
import type { TableForm } from './table.ts'
import { claim, createReading, type Reading, type RosterOptions, ranks } from './walk.ts'

/** Reads the records of another system as a roster, through the integration of the target. */
export async function openIntegration(
  context: Context,
  kind: LmsKind,
  options: RosterOptions,
  only: readonly RosterPart[],
): Promise<RosterSource> {
  const name = `integration:${kind}`
  const wanted = withNeeds(only)
  const pulled = await pullRecords(context, kind, recordPartsOf(wanted))
  const parts = rosterParts.filter((part) => wanted.has(part) && pulled.parts.has(part))
  // What a token does not see is not gone.
  const isPartial = (part: RosterPart) => pulled.hidden.has(part) || pulled.hidden.has('courses')
  const mode = (part: RosterPart) => (isPartial(part) ? 'delta' : 'bulk')
  return {
    ...{ name, format: kind, title: pulled.system, version: null, systemName: kind, parts, mode },
    files: parts.map((part) => ({
      ...{ name: fileOf(kind, part), table: part, mode: mode(part) },
      hash: createHash('sha256')
        .update(jsonText(pulled.records.get(part) ?? []))
        .digest('hex'),
    })),
    read() {
      const findings = createFindings()
      const reading = createReading({ findings, options, files: new Map(), mode: () => 'bulk' })
      const entries = readPulled(reading, kind, pulled, new Set(parts))
      return {
        entries: (async function* () {
          yield* entries
        })(),
        findings: {
          ...findings.findings,
          notes: () => [...notesOf(pulled), ...findings.findings.notes()],
        },
      }
    },
  }
}

/** Parts to which the records of a part refer. */
const needs: Readonly<Partial<Record<RosterPart, readonly RosterPart[]>>> = {
  groups: ['users', 'courses', 'enrollments'],
  enrollments: ['users', 'courses'],
  grades: ['users', 'courses'],
}
/** Parts that are read unless others are chosen: grades take as many requests as all else. */
const standard = rosterParts.filter((part) => part !== 'grades')

/** Returns these parts, by default all but grades, with those that they refer to. */
function withNeeds(only: readonly RosterPart[]): ReadonlySet<RosterPart> {
  return new Set((only.length > 0 ? only : standard).flatMap((part) => [part, ...(needs[part] ?? [])]))
}

function recordPartsOf(wanted: ReadonlySet<RosterPart>): ReadonlySet<RecordPart> {
  return new Set(
    recordParts.filter((part) => (part === 'memberships' ? wanted.has('groups') : wanted.has(part))),
  )
}

function notesOf({ system, notes }: PulledRecords): string[] {
  return [...notes].map(([text, count]) => `${system}: ${formatCount(count)} ${text}`)
}

function fileOf(kind: LmsKind, part: RecordPart): string {
  return `${kind} ${part}`
}

/** Fields of the records of each part. */
const fieldsOf = {
  terms: ['externalId', 'name', 'startDate', 'endDate'],
  users: ['externalId', 'email', 'username', 'firstName', 'lastName', 'displayName', 'status', 'role'],
  courses: ['externalId', 'title', 'description', 'language', 'status', 'term'],
  groups: ['externalId', 'name', 'courseId'],
  enrollments: ['courseId', 'userId', 'role', 'status', 'firstDay'],
  grades: ['courseId', 'learnerId', 'itemId', 'label', 'scoreGiven', 'scoreMaximum', 'gradedAt', 'published'],
} as const satisfies Readonly<Record<RosterPart, readonly string[]>>

const userForm: TableForm = {
  ...{ name: 'users', part: 'users', noun: 'user', columns: fieldsOf.users },
  ...{ key: ['externalId'], required: ['externalId'], shownBy: [] },
}
const people = peopleTable(userForm, {
  externalId: 'externalId',
  email: 'email',
  username: 'username',
  'profile.firstName': 'firstName',
  'profile.lastName': 'lastName',
  'profile.displayName': 'displayName',
})
const courseDataset = namedColumns(courses, {})
const gradeDataset = namedColumns(grades, {})

/** Rows of a part, as if they were the lines of a file. */
function rowsOf(
  findings: FindingsCollector,
  kind: LmsKind,
  part: RosterPart,
  records: readonly JsonObject[],
): RosterRow[] {
  const header = fieldsOf[part]
  const places = new Map<string, number>(header.map((name, place) => [name, place]))
  const rowFile: RowFile = {
    ...{ file: fileOf(kind, part), part, findings, from: 0, opened: [], read: new Uint8Array(header.length) },
    table: {
      placeOf: (column) => places.get(column),
      textAt: (cells, place) => cells[place] ?? '',
      nameOf: (column) => column,
      cellForm: { now: Number.NaN, dateFormat: undefined, decimalComma: false },
      header,
      isKnown: (column) => places.has(column),
      rows: (async function* () {})(),
    },
  }
  return records.map((record, index) => {
    findings.addRow(rowFile.file)
    const cells = header.map((name) =>
      record[name] === undefined || record[name] === null ? '' : String(record[name]),
    )
    return new RosterRow(rowFile, index + 1, cells)
  })
}

/** Returns the external id of a reference; one by the other system's id that is not known stays as it is. */
type Resolve = (part: 'users' | 'courses' | 'groups', reference: string) => string

function resolverOf({ records }: PulledRecords): Resolve {
  const parts = ['users', 'courses', 'groups'] as const
  const known = new Map(
    parts.map((part) => [
      part,
      new Map((records.get(part) ?? []).map(({ id, record }) => [id, String(record['externalId'])])),
    ]),
  )
  return (part, reference) => {
    const own = /^own:(.*)$/s.exec(reference)?.[1]
    if (own === undefined) return reference.replace(/^ext:/, '')
    return known.get(part)?.get(own) ?? own
  }
}

function* readPulled(
  reading: Reading,
  kind: LmsKind,
  pulled: PulledRecords,
  parts: ReadonlySet<RosterPart>,
): Generator<readonly RosterEntry[]> {
  const resolve = resolverOf(pulled)
  const all = (part: RecordPart) => (pulled.records.get(part) ?? []).map(({ record }) => record as JsonObject)
  const rows = (part: RosterPart, records: readonly JsonObject[] = all(part)) =>
    parts.has(part) ? rowsOf(reading.findings, kind, part, records) : []
  const instructors = new Set(
    all('enrollments').flatMap(({ userId, role }) =>
      role === 'instructor' ? [resolve('users', String(userId))] : [],
    ),
  )

  yield rows('terms').flatMap((row) => termOf(reading, row))
  yield rows('users', merged(all('users'))).flatMap((row) => userOf(reading, row, instructors))
  yield rows('courses').flatMap((row) => courseOf(reading, row, (term) => resolveTerm(pulled, term)))
  const groups = createGroups()
  for (const row of rows('groups')) {
    const course = row.text('courseId')
    groups.add(row, {
      externalId: row.text('externalId'),
      name: row.text('name'),
      course: course === '' ? null : resolve('courses', course),
    })
  }
  for (const { groupId, userId } of all('memberships')) {
    groups.addMember(resolve('groups', String(groupId)), resolve('users', String(userId)))
  }
  if (parts.has('groups')) yield groups.entries()
  yield rows('enrollments').flatMap((row) =>
    enrollmentEntries(reading, row, {
      course: resolve('courses', row.text('courseId')),
      user: resolve('users', row.text('userId')),
      role: row.text('role'),
      status: row.text('status') as 'active' | 'completed' | 'inactive',
      firstDay: row.text('firstDay') || null,
    }),
  )
  yield rows('grades').flatMap((row) => gradeOf(reading, row, resolve))
}

function resolveTerm({ records }: PulledRecords, reference: string): string {
  const own = /^own:(.*)$/s.exec(reference)?.[1]
  if (own === undefined) return reference.replace(/^ext:/, '')
  const found = records.get('terms')?.find(({ id }) => id === own)
  return found ? String(found.record['externalId']) : own
}

/** Joins the records of one person, who may be listed in several courses. */
function merged(records: readonly JsonObject[]): readonly JsonObject[] {
  const byId = new Map<unknown, JsonObject>()
  for (const record of records) {
    byId.set(record['externalId'], { ...byId.get(record['externalId']), ...record })
  }
  return [...byId.values()]
}

function termOf(reading: Reading, row: RosterRow): RosterEntry[] {
  const externalId = row.text('externalId')
  if (!claim(reading, 'terms', 'term', externalId, row, ranks.active)) return []
  return termEntries(row, { externalId, name: row.text('name'), start: 'startDate', end: 'endDate' })
}

function userOf(reading: Reading, row: RosterRow, instructors: ReadonlySet<string>): readonly RosterEntry[] {
  const externalId = row.text('externalId')
  const status = row.text('status')
  const role = row.text('role') || (instructors.has(externalId) ? 'instructor' : '')
  const found = personEntries(reading, row, people, {
    externalId,
    ...{ email: row.text('email'), username: row.text('username') },
    ...{ firstName: row.text('firstName'), lastName: row.text('lastName') },
    displayName: row.text('displayName'),
    ...(role !== '' && { role }),
    ...(status !== '' && { isSuspended: status === 'suspended' }),
  })
  return row.hasProblem ? [] : found
}

function courseOf(
  reading: Reading,
  row: RosterRow,
  resolve: (term: string) => string,
): readonly RosterEntry[] {
  const [externalId, term] = [row.text('externalId'), row.text('term')]
  const texts = ['title', 'description', 'language', 'status'].flatMap((name) => {
    const text = row.text(name)
    return text === '' && name !== 'title' ? [] : [[name, text]]
  })
  const course = { externalId, ...Object.fromEntries(texts) }
  addSchemaProblems(row, courseDataset, course)
  if (row.hasProblem || !claim(reading, 'courses', 'course', externalId, row, ranks.active)) return []
  return [entryOf('courses', { ...course, ...(term !== '' && { term: `ext:${resolve(term)}` }) }, row)]
}

/** Source of a grade that declares none. */
const gradeSource = 'manual'

function gradeOf(reading: Reading, row: RosterRow, resolve: Resolve): readonly RosterEntry[] {
  const courseId = `ext:${resolve('courses', row.text('courseId'))}`
  const learnerId = `ext:${resolve('users', row.text('learnerId'))}`
  const itemId = row.text('itemId')
  const gradedAt = row.text('gradedAt')
  const [scoreGiven, scoreMaximum] = [Number(row.text('scoreGiven')), Number(row.text('scoreMaximum'))]
  const record = {
    ...{ courseId, learnerId, itemId, label: row.text('label'), scoreGiven, scoreMaximum },
    ...(gradedAt !== '' && { gradedAt }),
    published: row.text('published') !== 'false',
    extraCredit: scoreGiven > scoreMaximum,
  }
  addSchemaProblems(row, gradeDataset, record)
  const key = [courseId, learnerId, itemId, gradeSource].join('\n')
  if (row.hasProblem || !claim(reading, 'grades', 'grade', key, row, ranks.active)) return []
  return [{ dataset: 'grades', key, record, place: { file: row.file, line: row.line } }]
}
