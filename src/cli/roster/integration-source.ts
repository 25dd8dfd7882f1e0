import { createHash } from 'node:crypto'
import { type JsonObject, jsonText } from '../../codec/json-text.ts'
import { type LmsKind, type RecordPart, recordParts } from '../../contract/constants.ts'
import type { Context } from '../command/context.ts'
import { courses as courseRecords } from '../dataset/courses.ts'
import { grades } from '../dataset/grades.ts'
import { addSchemaProblems, enrollmentEntries, entryOf, namedColumns, termEntries } from './entries.ts'
import { createFindings, type FindingsCollector } from './findings.ts'
import { createGroups } from './groups.ts'
import { peopleTable, personEntries } from './people.ts'
import { pullRecords } from './pull-records.ts'
import { resolveRecords } from './resolve-records.ts'
import { type RosterEntry, type RosterPart, type RosterSource, rosterParts } from './roster.ts'
import { RosterRow, type RowFile } from './row.ts'
import type { Scope } from './scope.ts'
import type { TableForm } from './table.ts'
import { claim, createReading, type Reading, type RosterOptions, ranks, requireUnique } from './walk.ts'

/** Through the integration of the target. */
export async function openIntegration(
  context: Context,
  kind: LmsKind,
  options: RosterOptions,
  { only, courses }: Pick<Scope, 'only' | 'courses'>,
): Promise<RosterSource> {
  const name = `integration:${kind}`
  const wanted = withNeeds(only)
  const pulled = await pullRecords(context, kind, recordPartsOf(wanted), courses)
  const { records, notes, hidden, isPartial } = resolveRecords(pulled)
  const parts = rosterParts.filter((part) => wanted.has(part) && pulled.parts.has(part))
  // A record that the token may not see is not removed.
  const isHidden = (part: RosterPart) => hiddenBy[part].some((each) => hidden.has(each))
  const mode = (part: RosterPart) => (isHidden(part) ? 'delta' : 'bulk')
  const recordsOf = (part: RosterPart) => (parts.includes(part) ? (records.get(part) ?? []) : [])
  return {
    ...{ name, format: kind, title: pulled.system, version: null, systemName: kind, parts, mode, isPartial },
    files: parts.map((part) => ({
      ...{ name: fileOf(pulled.system, part), table: part, mode: mode(part) },
      hash: createHash('sha256')
        .update(jsonText(recordsOf(part)))
        .digest('hex'),
    })),
    read() {
      const findings = createFindings()
      const reading = createReading({ findings, options, files: new Map(), mode: () => 'bulk' })
      return {
        entries: entriesOf(reading, pulled.system, kind, recordsOf, hidden.has('users')),
        findings: { ...findings.findings, notes: () => [...notes, ...findings.findings.notes()] },
      }
    },
  }
}

/** Lists without which a part is not whole: people and members of groups may come with enrolments. */
const hiddenBy: Readonly<Record<RosterPart, readonly RecordPart[]>> = {
  terms: ['terms', 'courses'],
  courses: ['courses'],
  users: ['users', 'enrollments', 'courses'],
  groups: ['groups', 'memberships', 'enrollments', 'courses'],
  enrollments: ['enrollments', 'courses'],
  grades: ['grades', 'items', 'courses'],
}

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
  return new Set(recordParts.filter((part) => wanted.has(rosterPartOf(part))))
}

/** Groups have members, grades have items. */
function rosterPartOf(part: RecordPart): RosterPart {
  if (part === 'memberships') return 'groups'
  return part === 'items' ? 'grades' : part
}

function fileOf(system: string, part: RecordPart): string {
  return `${system} ${part}`
}

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
const courseDataset = namedColumns(courseRecords, {})
const gradeDataset = namedColumns(grades, {})

/** Rows of a part, as if they were the lines of a file. */
function rowsOf(
  findings: FindingsCollector,
  file: string,
  part: RosterPart,
  records: readonly JsonObject[],
): RosterRow[] {
  const header = fieldsOf[part]
  const places = new Map<string, number>(header.map((name, place) => [name, place]))
  const rowFile: RowFile = {
    ...{ file, part, findings, from: 0, opened: [], read: new Uint8Array(header.length) },
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

async function* entriesOf(
  reading: Reading,
  system: string,
  kind: LmsKind,
  recordsOf: (part: RosterPart) => readonly JsonObject[],
  mayLackPeople: boolean,
): AsyncGenerator<readonly RosterEntry[]> {
  const rows = (part: RosterPart) => rowsOf(reading.findings, fileOf(system, part), part, recordsOf(part))
  const instructors = new Set(
    recordsOf('enrollments').flatMap(({ userId, role }) => (role === 'instructor' ? [String(userId)] : [])),
  )
  yield rows('terms').flatMap((row) => termOf(reading, row))
  yield rows('users').flatMap((row) => userOf(reading, row, instructors))
  yield rows('courses').flatMap((row) => courseOf(reading, row))
  const withPeople = (entry: RosterEntry): RosterEntry => ({ ...entry, mayLackPeople })
  yield groupEntries(rows('groups'), recordsOf('groups')).map(withPeople)
  yield rows('enrollments').flatMap((row) =>
    enrollmentEntries(reading, row, {
      ...{ course: row.text('courseId'), user: row.text('userId'), role: row.text('role') },
      // The reader of the system gives no other.
      status: row.text('status') as 'active' | 'completed' | 'inactive',
      firstDay: row.text('firstDay') || null,
    }).map(withPeople),
  )
  yield rows('grades').flatMap((row) => gradeOf(reading, kind, row))
}

function groupEntries(rows: readonly RosterRow[], records: readonly JsonObject[]): readonly RosterEntry[] {
  const groups = createGroups()
  for (const [index, row] of rows.entries()) {
    const externalId = row.text('externalId')
    groups.add(row, { externalId, name: row.text('name'), course: row.text('courseId') || null })
    const members = records[index]?.['members']
    for (const member of Array.isArray(members) ? members : []) groups.addMember(externalId, String(member))
  }
  return groups.entries()
}

function termOf(reading: Reading, row: RosterRow): RosterEntry[] {
  const externalId = row.text('externalId')
  if (!claim(reading, 'terms', 'term', externalId, row, ranks.active)) return []
  return termEntries(row, { externalId, name: row.text('name'), start: 'startDate', end: 'endDate' })
}

function userOf(reading: Reading, row: RosterRow, instructors: ReadonlySet<string>): readonly RosterEntry[] {
  const externalId = row.text('externalId')
  // Two people of the other system, such as with the same ID number in Moodle, are not joined.
  requireUnique(reading, { column: 'externalId', value: externalId, name: 'external id' }, row, 0)
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

function courseOf(reading: Reading, row: RosterRow): readonly RosterEntry[] {
  const [externalId, term] = [row.text('externalId'), row.text('term')]
  const texts = ['title', 'description', 'language', 'status'].flatMap((name) => {
    const text = row.text(name)
    return text === '' && name !== 'title' ? [] : [[name, text]]
  })
  const course = { externalId, ...Object.fromEntries(texts) }
  addSchemaProblems(row, courseDataset, course)
  if (row.hasProblem || !claim(reading, 'courses', 'course', externalId, row, ranks.active)) return []
  return [entryOf('courses', { ...course, ...(term !== '' && { term: `ext:${term}` }) }, row)]
}

function gradeOf(reading: Reading, kind: LmsKind, row: RosterRow): readonly RosterEntry[] {
  const courseId = `ext:${row.text('courseId')}`
  const learnerId = `ext:${row.text('learnerId')}`
  const itemId = row.text('itemId')
  const gradedAt = row.text('gradedAt')
  const [scoreGiven, scoreMaximum] = [Number(row.text('scoreGiven')), Number(row.text('scoreMaximum'))]
  const record = {
    ...{ courseId, learnerId, itemId, label: row.text('label'), scoreGiven, scoreMaximum },
    ...(gradedAt !== '' && { gradedAt }),
    published: row.text('published') !== 'false',
    extraCredit: scoreGiven > scoreMaximum,
    // Grades that arrive as events have the same source.
    source: kind,
  }
  addSchemaProblems(row, gradeDataset, record)
  const key = [courseId, learnerId, itemId, kind].join('\n')
  if (row.hasProblem || !claim(reading, 'grades', 'grade', key, row, ranks.active)) return []
  return [{ dataset: 'grades', key, record, place: { file: row.file, line: row.line } }]
}
