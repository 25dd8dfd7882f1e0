import { formatCount } from '../../codec/display-text.ts'
import type { JsonObject } from '../../codec/json-text.ts'
import type { RecordPart } from '../../contract/constants.ts'
import { pluralise } from '../terminal/format-text.ts'
import type { PulledRecord, PulledRecords } from './pull-records.ts'
import type { RosterPart } from './roster.ts'

/** Replaces the other system's ids in references by external ids, and joins the parts of a record on several pages. */
export function resolveRecords(pulled: PulledRecords) {
  const { system, records, notes } = pulled
  const all = (part: RecordPart): readonly JsonObject[] =>
    (records.get(part) ?? []).map(({ record }) => record)
  const courses = idsOf(pulled, 'courses', ({ externalId }) => textOf(externalId))
  const users = idsOf(pulled, 'users', ({ externalId }) => textOf(externalId))
  const terms = idsOf(pulled, 'terms', ({ externalId }) => textOf(externalId))
  const groupId = ({ externalId, courseId, name }: JsonObject) =>
    // A group without an id of its own is named within its course.
    externalId === undefined ? `${courses(courseId)}/${textOf(name)}` : textOf(externalId)
  const groupIds = idsOf(pulled, 'groups', groupId)

  const enrollments = bestOf(
    all('enrollments').map(({ courseId, userId, ...more }) => ({
      ...{ courseId: courses(courseId), userId: users(userId) },
      ...more,
    })),
  )
  const members = Map.groupBy(all('memberships'), (member) => groupIds(member['groupId']))
  const groups = all('groups').map((group) => {
    const externalId = groupId(group)
    const own = new Set((members.get(externalId) ?? []).map(({ userId }) => users(userId)))
    const course = group['courseId'] ?? null
    return {
      externalId,
      name: group['name'],
      courseId: course === null ? null : courses(course),
      members: [...own],
    }
  })
  const hiddenLearners = records.has('enrollments') ? hiddenIn(all('courses'), enrollments) : 0
  return {
    /** Each once. Groups have their members; references are external ids without `ext:`. */
    records: new Map<RosterPart, readonly JsonObject[]>([
      ['terms', all('terms')],
      ['users', joined(records.get('users') ?? [])],
      [
        'courses',
        all('courses').map(({ learnerCount: _, term, ...course }) => ({
          ...course,
          ...(term !== undefined && { term: terms(term) }),
        })),
      ],
      ['groups', groups],
      ['enrollments', enrollments],
      [
        'grades',
        gradesWithItems(pulled).map(({ courseId, learnerId, ...grade }) => ({
          ...{ courseId: courses(courseId), learnerId: users(learnerId) },
          ...grade,
        })),
      ],
    ]),
    notes: [
      ...[...notes].map(
        ([text, count]) => `${system}: ${text}${count === 1 ? '' : ` (${formatCount(count)} times)`}`,
      ),
      ...(pulled.listsPeople ? [] : [`${system}: people without a course are not read, and none is removed`]),
      ...(hiddenLearners > 0 ? [`${system}: ${hiddenText(hiddenLearners)} not visible to this token`] : []),
    ],
    hidden: new Set<RecordPart>([
      ...pulled.hidden,
      ...(pulled.listsPeople ? [] : (['users'] as const)),
      ...(hiddenLearners > 0 ? (['users', 'enrollments', 'groups'] as const) : []),
    ]),
    /** True if the credential sees less than others would. */
    isPartial: pulled.hidden.size > 0 || hiddenLearners > 0,
  }
}

/** Returns the scores, with the label and maximum of their items where these are listed apart. */
function gradesWithItems({ parts, records }: PulledRecords): readonly JsonObject[] {
  const grades = (records.get('grades') ?? []).map(({ record }): JsonObject => record)
  if (!parts.has('items')) return grades
  const items = new Map((records.get('items') ?? []).map(({ id, record }) => [id, record]))
  return grades.flatMap(({ state: _, ...grade }) => {
    const { label, scoreMaximum } = items.get(textOf(grade['itemId'])) ?? {}
    const isGraded = typeof grade['scoreGiven'] === 'number' && typeof scoreMaximum === 'number'
    return isGraded ? [{ ...grade, label, scoreMaximum } as JsonObject] : []
  })
}

/** Returns a function from references to external ids; one by an unknown id of the other system has that id. */
function idsOf(
  { records }: PulledRecords,
  part: RecordPart,
  externalIdOf: (record: JsonObject) => string,
): (reference: unknown) => string {
  const known = new Map((records.get(part) ?? []).map(({ id, record }) => [id, externalIdOf(record)]))
  return (reference) => {
    const text = textOf(reference)
    const own = text.startsWith('own:') ? text.slice('own:'.length) : null
    if (own === null) return text.replace(/^ext:/, '')
    return known.get(own) ?? own
  }
}

/** Empty for no value. */
export function textOf(value: unknown): string {
  return value === undefined || value === null ? '' : String(value)
}

/** Joins the records of one person in several courses. Another person with the same external id stays apart. */
function joined(records: readonly PulledRecord[]): readonly JsonObject[] {
  const byPerson = new Map<string, JsonObject>()
  for (const { id, record } of records) {
    const key = `${id ?? ''}\n${textOf(record['externalId'])}`
    byPerson.set(key, { ...byPerson.get(key), ...record })
  }
  return [...byPerson.values()]
}

const statuses = ['inactive', 'completed', 'active']

/** Each once, with the status that counts most. */
function bestOf(records: readonly JsonObject[]): readonly JsonObject[] {
  const byKey = new Map<string, JsonObject>()
  const rankOf = (record: JsonObject | undefined) => statuses.indexOf(textOf(record?.['status']))
  for (const record of records) {
    const key = [record['courseId'], record['userId'], record['role']].join('\n')
    if (rankOf(record) > rankOf(byKey.get(key))) byKey.set(key, record)
  }
  return [...byKey.values()]
}

function hiddenText(count: number): string {
  return `${pluralise(count, 'student')} ${count === 1 ? 'is' : 'are'}`
}

/** Returns the number of learners that courses count but do not show. */
function hiddenIn(courses: readonly JsonObject[], enrollments: readonly JsonObject[]): number {
  const seen = new Map<string, number>()
  for (const { courseId, role, status } of enrollments) {
    if (role !== 'learner' || status !== 'active') continue
    seen.set(textOf(courseId), (seen.get(textOf(courseId)) ?? 0) + 1)
  }
  return courses.reduce((sum, { externalId, learnerCount }) => {
    const missing = typeof learnerCount === 'number' ? learnerCount - (seen.get(textOf(externalId)) ?? 0) : 0
    return sum + Math.max(0, missing)
  }, 0)
}
