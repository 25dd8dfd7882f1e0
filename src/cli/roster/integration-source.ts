import { createHash } from 'node:crypto'
import { type JsonObject, jsonText } from '../../codec/json-text.ts'
import { type LmsKind, type RecordPart, recordParts } from '../../contract/constants.ts'
import type { Context } from '../command/context.ts'
import { courses } from '../dataset/courses.ts'
import { grades } from '../dataset/grades.ts'
import type { Place } from '../records/entries.ts'
import { addSchemaProblems, enrollmentEntries, entryOf, filled, termEntries } from './entries.ts'
import { Groups } from './groups.ts'
import { peopleTable, personEntries } from './people.ts'
import { pullRecords } from './pull-records.ts'
import { resolveRecords, textOf } from './resolve-records.ts'
import {
  type RosterEntry,
  RosterFindings,
  type RosterPart,
  type RosterSource,
  rosterParts,
} from './roster.ts'
import type { RosterRow } from './row.ts'
import type { Scope } from './scope.ts'
import { claim, createReading, type Reading, type RosterOptions, ranks, requireUnique } from './walk.ts'

/** Through the integration of the target. */
export async function openIntegration(
  context: Context,
  kind: LmsKind,
  options: RosterOptions,
  { only, courses: chosen }: Pick<Scope, 'only' | 'courses'>,
): Promise<RosterSource> {
  const name = `integration:${kind}`
  const wanted = withNeeds(only)
  const pulled = await pullRecords(context, kind, recordPartsOf(wanted), chosen)
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
      const findings = new RosterFindings(notes)
      const reading = createReading({ findings, options, files: new Map(), mode: () => 'bulk' })
      return { entries: entriesOf(reading, pulled.system, kind, recordsOf, hidden.has('users')), findings }
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

const people = peopleTable(
  { key: ['externalId'] },
  {
    externalId: 'externalId',
    email: 'email',
    username: 'username',
    'profile.firstName': 'firstName',
    'profile.lastName': 'lastName',
    'profile.displayName': 'displayName',
  },
)

async function* entriesOf(
  reading: Reading,
  system: string,
  kind: LmsKind,
  recordsOf: (part: RosterPart) => readonly JsonObject[],
  mayLackPeople: boolean,
): AsyncGenerator<readonly RosterEntry[]> {
  const read = (
    part: RosterPart,
    entriesOfRecord: (row: RosterRow, record: JsonObject) => readonly RosterEntry[],
  ) =>
    recordsOf(part).flatMap((record, index) => {
      const place = { file: fileOf(system, part), line: index + 1 }
      reading.findings.addRow(place.file)
      return entriesOfRecord(recordRow(reading.findings, part, place, record), record)
    })
  const instructors = new Set(
    recordsOf('enrollments').flatMap(({ userId, role }) => (role === 'instructor' ? [String(userId)] : [])),
  )
  const withPeople = (entry: RosterEntry): RosterEntry => ({ ...entry, mayLackPeople })
  yield read('terms', (row) => termOf(reading, row))
  yield read('users', (row) => userOf(reading, row, instructors))
  yield read('courses', (row) => courseOf(reading, row))
  const groups = new Groups()
  read('groups', (row, { members }) => addGroup(groups, row, members))
  yield groups.entries().map(withPeople)
  yield read('enrollments', (row) => enrollmentOf(reading, row)).map(withPeople)
  yield read('grades', (row, record) => gradeOf(reading, kind, row, record))
}

/** The fields of a record are its columns. */
function recordRow(findings: RosterFindings, part: RosterPart, place: Place, record: JsonObject): RosterRow {
  return {
    ...{ place, replaces: null },
    hasProblem: false,
    cellForm: { now: Number.NaN, dateFormat: undefined, decimalComma: false },
    text: (field) => textOf(record[field]),
    addProblem(column, code, message, value, guess = '') {
      this.hasProblem = true
      findings.addProblem(part, place, { column, value, code, message, ...(guess !== '' && { guess }) })
    },
    addLeniency: (what, value) => findings.addLeniency(place.file, what, value),
  }
}

function termOf(reading: Reading, row: RosterRow): readonly RosterEntry[] {
  const externalId = row.text('externalId')
  if (!claim(reading, 'terms', `ext:${externalId}`, row, ranks.active)) return []
  return termEntries(row, { externalId, name: row.text('name'), start: 'startDate', end: 'endDate' })
}

function userOf(reading: Reading, row: RosterRow, instructors: ReadonlySet<string>): readonly RosterEntry[] {
  const externalId = row.text('externalId')
  // Two people of the other system, such as with the same ID number in Moodle, are not joined.
  requireUnique(reading, { column: 'externalId', value: externalId, name: 'external id' }, row)
  const status = row.text('status')
  const found = personEntries(reading, row, people, {
    role: row.text('role') || (instructors.has(externalId) ? 'instructor' : undefined),
    ...(status !== '' && { isSuspended: status === 'suspended' }),
  })
  return row.hasProblem ? [] : found
}

function courseOf(reading: Reading, row: RosterRow): readonly RosterEntry[] {
  const [externalId, term] = [row.text('externalId'), row.text('term')]
  const [description, language, status] = ['description', 'language', 'status'].map((name) => row.text(name))
  const course = { externalId, title: row.text('title'), ...filled({ description, language, status }) }
  addSchemaProblems(row, courses, course)
  if (row.hasProblem || !claim(reading, 'courses', `ext:${externalId}`, row, ranks.active)) return []
  return [entryOf('courses', { ...course, ...(term !== '' && { term: `ext:${term}` }) }, row)]
}

/** Returns no entries: groups have theirs when all members are known. */
function addGroup(groups: Groups, row: RosterRow, members: unknown): [] {
  const externalId = row.text('externalId')
  groups.add(row, { externalId, name: row.text('name'), course: row.text('courseId') || null })
  for (const user of Array.isArray(members) ? members : []) groups.addMember(externalId, String(user))
  return []
}

function enrollmentOf(reading: Reading, row: RosterRow): readonly RosterEntry[] {
  return enrollmentEntries(reading, row, {
    course: row.text('courseId'),
    user: row.text('userId'),
    role: row.text('role'),
    // The reader of the system gives no other.
    status: row.text('status') as 'active' | 'completed' | 'inactive',
    firstDay: row.text('firstDay') || null,
  })
}

function gradeOf(reading: Reading, kind: LmsKind, row: RosterRow, grade: JsonObject): readonly RosterEntry[] {
  const [scoreGiven, scoreMaximum] = [Number(grade['scoreGiven']), Number(grade['scoreMaximum'])]
  const record = {
    courseId: `ext:${row.text('courseId')}`,
    learnerId: `ext:${row.text('learnerId')}`,
    itemId: row.text('itemId'),
    label: row.text('label'),
    scoreGiven,
    scoreMaximum,
    ...filled({ gradedAt: row.text('gradedAt') }),
    published: grade['published'] !== false,
    extraCredit: scoreGiven > scoreMaximum,
    // Grades that arrive as events have the same source.
    source: kind,
  }
  addSchemaProblems(row, grades, record)
  const key = [record.courseId, record.learnerId, record.itemId, kind].join('\n')
  if (row.hasProblem || !claim(reading, 'grades', key, row, ranks.active)) return []
  return [{ dataset: 'grades', key, record, place: row.place }]
}
