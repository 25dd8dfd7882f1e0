import { createHash } from 'node:crypto'
import { formatCount } from '../../codec/display-text.ts'
import { isJsonObject, type JsonObject, jsonText } from '../../codec/json-text.ts'
import { type LmsKind, type RecordPart, recordParts } from '../../contract/constants.ts'
import type { Context } from '../command/context.ts'
import { courses } from '../dataset/courses.ts'
import { grades } from '../dataset/progress.ts'
import { nouns } from '../records/entries.ts'
import { type ImportFile, inspectFile } from '../records/sources/file.ts'
import { pluralise } from '../terminal/format-text.ts'
import { note } from '../terminal/io.ts'
import { type PulledRecord, type PulledRecords, pullRecords } from './pull-records.ts'
import { Reading, type RosterOptions, RosterRow } from './reading.ts'
import {
  addSchemaProblems,
  checkDay,
  enrollmentEntry,
  entryOf,
  gradeEntries,
  groupEntry,
  peopleForm,
  personEntry,
  type RosterEnrollment,
  type RosterGroup,
  type RosterPerson,
  type RosterTerm,
  termEntry,
} from './records.ts'
import {
  type Roster,
  type RosterEntry,
  RosterFindings,
  type RosterPart,
  rosterParts,
  type Scope,
} from './roster.ts'

export async function readIntegration(
  context: Context,
  kind: LmsKind,
  options: RosterOptions,
  { only, courses: chosen }: Pick<Scope, 'only' | 'courses'>,
): Promise<Roster> {
  const wanted = withNeeds(only)
  const pulled = await pullRecords(context, kind, recordPartsOf(wanted), chosen)
  const { system } = pulled
  const { records, notes, hidden, isPartial } = resolve(pulled)
  const parts = rosterParts.filter((part) => wanted.has(part) && pulled.parts.has(part))
  // A record that the token may not see is not removed.
  const isHidden = (part: RosterPart) => hiddenBy[part].some((each) => hidden.has(each))
  const mode = (part: RosterPart) => (isHidden(part) ? 'delta' : 'bulk')
  const shown = new Map(parts.map((part) => [part, records[part]]))
  const reading = new Reading(new RosterFindings(notes), options)
  const instructors = new Set(
    (shown.get('enrollments') ?? []).flatMap(({ userId, role }) => (role === 'instructor' ? userId : [])),
  )
  for (const [part, all] of shown) {
    const mayLackPeople = hidden.has('users') && (part === 'groups' || part === 'enrollments')
    for (const record of all) {
      const place = { file: `${system} ${part}`, line: 0, record: `${system} ${nameOf(part, record)}` }
      reading.findings.addRow(place.file)
      const row = new RosterRow(reading.findings, place)
      const entries = readers[part]({ reading, row, kind, instructors }, record)
      if (row.hasProblem) continue
      for (const entry of entries) reading.add(row, mayLackPeople ? { ...entry, mayLackPeople } : entry)
    }
  }
  return {
    ...{ name: `integration:${kind}`, format: kind, title: system, version: null, systemName: kind },
    ...{ parts, mode, isPartial, ...reading.finish(parts) },
    files: parts.map((part) => ({ name: `${system} ${part}`, table: part, mode: mode(part) })),
    hash: createHash('sha256')
      .update(jsonText([...shown]))
      .digest('hex'),
  }
}

/** Parts that are not whole without a list: people and members of groups may come with enrolments. */
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
/** Grades take as many requests as all else. */
const standard = rosterParts.filter((part) => part !== 'grades')

function withNeeds(only: readonly RosterPart[]): ReadonlySet<RosterPart> {
  return new Set((only.length > 0 ? only : standard).flatMap((part) => [part, ...(needs[part] ?? [])]))
}

/** Groups have members, grades have items. */
function recordPartsOf(wanted: ReadonlySet<RosterPart>): ReadonlySet<RecordPart> {
  const ofRoster = { memberships: 'groups', items: 'grades' } as const
  return new Set(
    recordParts.filter((part) =>
      wanted.has(part === 'memberships' || part === 'items' ? ofRoster[part] : part),
    ),
  )
}

interface ReadingOf {
  readonly reading: Reading
  readonly row: RosterRow
  readonly kind: LmsKind
  readonly instructors: ReadonlySet<unknown>
}

const people = peopleForm('externalId', {
  externalId: 'externalId',
  email: 'email',
  username: 'username',
  'profile.firstName': 'firstName',
  'profile.lastName': 'lastName',
  'profile.displayName': 'displayName',
})

/** Makes entries of records, which have the fields of a roster: the server reads them so from each system. */
const readers: Readonly<Record<RosterPart, (of: ReadingOf, record: JsonObject) => readonly RosterEntry[]>> = {
  terms({ row }, record) {
    const term = record as unknown as RosterTerm
    const day = (field: 'startDate' | 'endDate') => checkDay(row, field, term[field] ?? '')
    return [
      termEntry(row, { ...term, startDate: day('startDate'), endDate: day('endDate') }, [
        'startDate',
        'endDate',
      ]),
    ]
  },

  users({ reading, row, instructors }, { status, ...record }) {
    const person = record as unknown as RosterPerson
    // Two people of the other system, such as with the same ID number in Moodle, are not joined.
    reading.requireUnique(row, 'externalId', person.externalId, 'external id')
    const { role = instructors.has(`ext:${person.externalId}`) ? 'instructor' : undefined } = person
    const isSuspended = status === undefined ? undefined : status === 'suspended'
    return [personEntry(reading, row, people, { ...person, role, isSuspended })]
  },

  courses({ row }, record) {
    addSchemaProblems(row, courses, record)
    return [entryOf('courses', record, row)]
  },

  groups({ reading, row }, { members, ...record }) {
    const group = record as unknown as RosterGroup
    for (const user of members as string[]) reading.addMember(`ext:${group.externalId}`, user)
    return [groupEntry(row, group)]
  },

  enrollments: ({ row }, record) => [enrollmentEntry(row, record as unknown as RosterEnrollment)],

  grades({ row, kind }, record) {
    const { label = '', published = true, scoreGiven, scoreMaximum } = record
    const extraCredit = Number(scoreGiven) > Number(scoreMaximum)
    // Grades that arrive as events have the same source.
    return gradeEntries(row, grades, { ...record, label, published, extraCredit, source: kind }, kind)
  },
}

/** `user S-17 (Ada Lovelace)`. */
function nameOf(part: RosterPart, record: JsonObject): string {
  const plain = (field: string) => String(record[field] ?? '').replace(/^ext:/, '')
  if (part === 'enrollments') return `enrolment of ${plain('userId')} in ${plain('courseId')}`
  if (part === 'grades') return `grade of ${plain('learnerId')} in ${plain('courseId')}, ${plain('itemId')}`
  const person = `${plain('firstName')} ${plain('lastName')}`
  const names = [plain('title'), plain('name'), person, plain('displayName'), plain('email')]
  const name = names.find((text) => text.trim() !== '')
  return `${nouns[part]} ${plain('externalId')}${name === undefined ? '' : ` (${name.trim()})`}`
}

/** References get external ids; records on several pages are joined. Says what is hidden. */
function resolve(pulled: PulledRecords) {
  const { system, notes } = pulled
  const all = (part: RecordPart) => recordsIn(pulled, part).map(({ record }) => record)
  const [terms, users, ofCourses] = [
    referencesIn(pulled, 'terms'),
    referencesIn(pulled, 'users'),
    referencesIn(pulled, 'courses'),
  ]
  // A group without an id of its own is named within its course.
  const groupId = ({ externalId, courseId, name }: JsonObject) =>
    externalId === undefined
      ? `${ofCourses(courseId).replace(/^ext:/, '')}/${name ?? ''}`
      : String(externalId)
  const groups = referencesIn(pulled, 'groups', groupId)
  const members = Map.groupBy(all('memberships'), (member) => groups(member['groupId']))
  const enrollments = bestOf(
    all('enrollments').map((each) => ({
      ...each,
      ...{ courseId: ofCourses(each['courseId']), userId: users(each['userId']) },
    })),
  )
  const hiddenLearners = pulled.records.has('enrollments') ? hiddenIn(all('courses'), enrollments) : 0
  const records: Readonly<Record<RosterPart, readonly JsonObject[]>> = {
    terms: all('terms'),
    users: joined(recordsIn(pulled, 'users')),
    courses: all('courses').map(({ learnerCount: _, term, ...course }) => ({
      ...course,
      ...(term !== undefined && { term: terms(term) }),
    })),
    groups: all('groups').map((group) => {
      const externalId = groupId(group)
      const own = new Set((members.get(`ext:${externalId}`) ?? []).map(({ userId }) => users(userId)))
      const courseId = group['courseId'] ?? null
      return { externalId, name: group['name'], course: courseId && ofCourses(courseId), members: [...own] }
    }),
    enrollments,
    grades: gradesWithItems(pulled).map((grade) => ({
      ...grade,
      ...{ courseId: ofCourses(grade['courseId']), learnerId: users(grade['learnerId']) },
    })),
  }
  const students = `${pluralise(hiddenLearners, 'student')} ${hiddenLearners === 1 ? 'is' : 'are'}`
  return {
    /** Each once; groups have their members. */
    records,
    notes: [
      ...[...notes].map(
        ([text, count]) => `${system}: ${text}${count === 1 ? '' : ` (${formatCount(count)} times)`}`,
      ),
      ...(pulled.listsPeople ? [] : [`${system}: people without a course are not read, and none is removed`]),
      ...(hiddenLearners > 0 ? [`${system}: ${students} not visible to this token`] : []),
    ],
    hidden: new Set<RecordPart>([
      ...pulled.hidden,
      ...(pulled.listsPeople ? [] : (['users'] as const)),
      ...(hiddenLearners > 0 ? (['users', 'enrollments', 'groups'] as const) : []),
    ]),
    isPartial: pulled.hidden.size > 0 || hiddenLearners > 0,
  }
}

function recordsIn({ records }: PulledRecords, part: RecordPart): readonly PulledRecord[] {
  return records.get(part) ?? []
}

/** Returns a function from references to those by external id; an unknown id of the other system is taken for one. */
function referencesIn(
  pulled: PulledRecords,
  part: RecordPart,
  externalIdOf = ({ externalId }: JsonObject) => String(externalId ?? ''),
): (reference: unknown) => string {
  const known = new Map(recordsIn(pulled, part).map(({ id, record }) => [id, externalIdOf(record)]))
  return (reference) => {
    const [, own] = /^own:(.*)$/s.exec(String(reference)) ?? []
    return own === undefined ? String(reference) : `ext:${known.get(own) ?? own}`
  }
}

/** Returns the scores, with the label and maximum of their items where these are listed apart. */
function gradesWithItems(pulled: PulledRecords): readonly JsonObject[] {
  const found = recordsIn(pulled, 'grades').map(({ record }): JsonObject => record)
  if (!pulled.parts.has('items')) return found
  const items = new Map(recordsIn(pulled, 'items').map(({ id, record }) => [id, record]))
  return found.flatMap(({ state: _, ...grade }) => {
    const { label, scoreMaximum } = items.get(String(grade['itemId'])) ?? {}
    const isGraded = typeof grade['scoreGiven'] === 'number' && typeof scoreMaximum === 'number'
    return isGraded ? [{ ...grade, label, scoreMaximum }] : []
  })
}

/** Joins one person in several courses. Another person with the same external id stays apart. */
function joined(records: readonly PulledRecord[]): readonly JsonObject[] {
  const byPerson = new Map<string, JsonObject>()
  for (const { id, record } of records) {
    const key = `${id ?? ''}\n${record['externalId']}`
    byPerson.set(key, { ...byPerson.get(key), ...record })
  }
  return [...byPerson.values()]
}

const statuses = ['inactive', 'completed', 'active']

/** Each enrolment once, with the status that counts most. */
function bestOf(enrollments: readonly JsonObject[]): readonly JsonObject[] {
  const byKey = new Map<string, JsonObject>()
  const rankOf = (record: JsonObject = {}) => statuses.indexOf(String(record['status']))
  for (const record of enrollments) {
    const key = [record['courseId'], record['userId'], record['role']].join('\n')
    if (rankOf(record) > rankOf(byKey.get(key))) byKey.set(key, record)
  }
  return [...byKey.values()]
}

/** Learners that courses count, but do not show. */
function hiddenIn(shown: readonly JsonObject[], enrollments: readonly JsonObject[]): number {
  const learners = enrollments.filter(({ role, status }) => role === 'learner' && status === 'active')
  const byCourse = Map.groupBy(learners, ({ courseId }) => courseId)
  return shown.reduce((sum, { externalId, learnerCount }) => {
    const seen = byCourse.get(`ext:${externalId}`)?.length ?? 0
    return sum + (typeof learnerCount === 'number' ? Math.max(0, learnerCount - seen) : 0)
  }, 0)
}

/** Courses and learners are found by mappings, else by external ids, people also by e-mail address. */
export async function openIntegrationGrades(context: Context, kind: LmsKind): Promise<ImportFile> {
  const pulled = await pullRecords(context, kind, new Set(['users', 'courses', 'items', 'grades']))
  const { records, notes } = resolve(pulled)
  const mapped = await readMapped(context, kind)
  const mappedReferences = (part: 'courses' | 'users', noun: string) =>
    new Map(
      recordsIn(pulled, part).map(({ id, record }) => [
        `ext:${record['externalId']}`,
        mapped.get(`${noun} ${id}`) ?? addressOf(id, record),
      ]),
    )
  const [byCourse, byUser] = [mappedReferences('courses', 'course'), mappedReferences('users', 'user')]
  const lines = records.grades.map((grade) => {
    const [courseId, learnerId] = [String(grade['courseId']), String(grade['learnerId'])]
    return JSON.stringify({
      ...grade,
      ...{ courseId: byCourse.get(courseId) ?? courseId, learnerId: byUser.get(learnerId) ?? learnerId },
      ...(Number(grade['scoreGiven']) > Number(grade['scoreMaximum']) && { extraCredit: true }),
      // Grades that arrive as events have the same source.
      source: kind,
    })
  })
  for (const text of notes) await note(context.io, text)
  const content = Buffer.from(lines.map((line) => `${line}\n`).join(''))
  async function* bytes() {
    yield content
  }
  return inspectFile({ name: `${kind}-grades`, path: null, bytes }, { format: 'jsonl' })
}

/** Keys are noun and id in the other system. */
async function readMapped({ session }: Context, kind: LmsKind): Promise<ReadonlyMap<string, string>> {
  const [{ calls }, caller] = await Promise.all([import('../../contract/calls.ts'), session.caller()])
  const mapped = new Map<string, string>()
  const input = { params: { lmsKind: kind }, query: { limit: 100 } }
  for await (const { data } of caller.pages(calls.integrations.mappings, input)) {
    for (const mapping of data) {
      if (!isJsonObject(mapping) || mapping['targetStatus'] !== 'active') continue
      mapped.set(`${mapping['noun']} ${mapping['externalKey']}`, String(mapping['reference']))
    }
  }
  return mapped
}

/** Returns the reference of a person by e-mail address, if the other system has no external id of the person. */
function addressOf(id: string | null, { externalId, email }: JsonObject): string | undefined {
  return externalId === id && typeof email === 'string' ? `email:${email}` : undefined
}
