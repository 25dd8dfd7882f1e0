import type * as z from 'zod'
import type { RecordPart } from '../../contract/constants.ts'
import type { ForeignRecords, ForeignWrite } from '../../contract/foreign-records.ts'
import type { Context } from '../command/context.ts'
import type { CourseContents, Grade } from './academy-reader.ts'
import { type PulledRecord, readPage } from './pull-records.ts'

export const countedParts = ['courses', 'enrollments', 'items', 'grades'] as const
type CountedPart = (typeof countedParts)[number]

export interface Compared {
  readonly part: CountedPart
  /** `ada@school.example in Biology`. */
  readonly name: string
  /** Invited people have to accept before anything can be written for them. */
  readonly state: 'equal' | 'invited' | 'create' | 'update'
  /** Null if something else has to be written first. */
  readonly write: z.input<typeof ForeignWrite> | null
}

/** Null if there is none yet. */
export function compareCourse(wanted: WantedCourse, found: ClassroomCourse | null): readonly Compared[] {
  const { members, items, grades } = wanted
  return [
    compareAttributes(wanted, found),
    ...members.map((member) => compareMember(wanted, found, member)),
    ...items.map((item) => compareItem(wanted, found, item)),
    ...grades.map((grade) => compareGrade(wanted, found, grade)),
  ]
}

/** Counts the students in Classroom whom the academy does not have. A push does not remove them. */
export function countExtra({ members }: WantedCourse, found: ClassroomCourse | null): number {
  const emails = new Set(members.map(({ email }) => lower(email)))
  const extra = [...(found?.roles ?? [])].filter(([email, role]) => role === 'learner' && !emails.has(email))
  return members.length === 0 ? 0 : extra.length
}

const statuses = ['draft', 'published', 'archived'] as const

function compareAttributes({ course }: WantedCourse, found: ClassroomCourse | null): Compared {
  const { key, title, description } = course
  const status = statuses.find((each) => each === course.status)
  const changes = {
    ...(found?.title !== title && { title }),
    ...(found?.status !== status && { status }),
    ...(description !== '' && description !== found?.description && { description }),
  }
  const isEqual = found !== null && Object.keys(changes).length === 0
  const own = found ? { id: found.id } : { externalId: key }
  const state = isEqual ? 'equal' : found ? 'update' : 'create'
  return { part: 'courses', name: title, state, write: { part: 'courses', ...own, ...changes } }
}

function compareMember(
  { course }: WantedCourse,
  found: ClassroomCourse | null,
  { email, role }: WantedCourse['members'][number],
): Compared {
  const isEqual = found?.roles.get(lower(email)) === role
  const state = isEqual ? 'equal' : found?.invited.has(lower(email)) ? 'invited' : 'create'
  const write = found && { part: 'enrollments' as const, courseId: found.id, email, role }
  return { part: 'enrollments', name: `${email} in ${course.title}`, state, write }
}

function compareItem(
  { course }: WantedCourse,
  found: ClassroomCourse | null,
  { label, scoreMaximum }: WantedCourse['items'][number],
): Compared {
  const known = found?.items.get(label)
  const state = known ? (known.scoreMaximum === scoreMaximum ? 'equal' : 'update') : 'create'
  const own = { id: known?.id, label, scoreMaximum }
  const write = found && { part: 'items' as const, courseId: found.id, ...own }
  return { part: 'items', name: `${label} in ${course.title}`, state, write }
}

function compareGrade(
  { course, items }: WantedCourse,
  found: ClassroomCourse | null,
  { itemId, email, scoreGiven, published }: WantedCourse['grades'][number],
): Compared {
  const label = items.find((each) => each.itemId === itemId)?.label ?? ''
  const item = found?.items.get(label)
  const submission = item && found?.submissions.get(submissionKey(item.id, lower(email)))
  const shared = { part: 'grades', name: `${label} of ${email} in ${course.title}` } as const
  if (!found || !submission) {
    const isInvited = found?.invited.has(lower(email))
    return { ...shared, state: isInvited ? 'invited' : scoreGiven === null ? 'equal' : 'create', write: null }
  }
  // A grade that Classroom shows stays visible.
  const isHeldBack = !published && submission.published
  const isSame =
    submission.scoreGiven === scoreGiven && (submission.published === published || scoreGiven === null)
  const returned = published && scoreGiven !== null && submission.state === 'TURNED_IN'
  const write = { courseId: found.id, itemId: item.id, id: submission.id, scoreGiven, published, returned }
  const state = isHeldBack || (isSame && !returned) ? 'equal' : 'update'
  return { ...shared, state, write: { part: 'grades', ...write } }
}

interface PushCounts {
  readonly wanted: number
  readonly equal: number
  /** Records that wait until people accept their invitations. */
  readonly invited: number
}

export function countStates(records: readonly Compared[]): Readonly<Record<CountedPart, PushCounts>> {
  const counts = (of: CountedPart): PushCounts => {
    const own = records.filter(({ part }) => part === of)
    const count = (wanted: Compared['state']) => own.filter(({ state }) => state === wanted).length
    return { wanted: own.length, equal: count('equal'), invited: count('invited') }
  }
  return {
    ...{ courses: counts('courses'), enrollments: counts('enrollments') },
    ...{ items: counts('items'), grades: counts('grades') },
  }
}

function submissionKey(itemId: string, email: string): string {
  return `${itemId}\n${email}`
}

export type WantedCourse = ReturnType<typeof wantedOf>

/** Returns the records of a course to send to Classroom: active enrolments of people who are not suspended, and grades of items. */
export function wantedOf(
  { course, enrolments, grades: all }: CourseContents,
  emails: ReadonlyMap<string, string>,
  parts: ReadonlySet<string>,
) {
  const members = (parts.has('enrollments') ? enrolments : []).flatMap(({ userKey, role, status }) => {
    const email = emails.get(userKey)
    return status === 'active' && email !== undefined ? [{ email, role }] : []
  })
  const newest = new Map<string, Grade>()
  for (const grade of all.filter(({ itemId }) => !itemId.startsWith('$'))) {
    const key = `${grade.itemId}\n${grade.userKey}`
    const before = newest.get(key)
    if (!before || before.gradedAt < grade.gradedAt) newest.set(key, grade)
  }
  const items = itemsOf([...newest.values()])
  const enrolled = new Set(members.map(({ email }) => email))
  const grades = [...newest.values()].flatMap((grade) => {
    const email = emails.get(grade.userKey)
    const maximum = items.get(grade.itemId)?.scoreMaximum ?? grade.scoreMaximum
    if (email === undefined || (parts.has('enrollments') && !enrolled.has(email))) return []
    const { itemId, published } = grade
    return [{ itemId, email, published, scoreGiven: scaled(grade, maximum) }]
  })
  return { course, members, items: [...items.values()], grades }
}

function itemsOf(grades: readonly Grade[]) {
  const items = new Map<string, { itemId: string; label: string; scoreMaximum: number }>()
  const labels = new Set<string>()
  for (const { itemId, label, scoreMaximum } of grades) {
    if (items.has(itemId)) continue
    const title = label === '' ? itemId : label
    const unique = labels.has(title) ? `${title} (${itemId})` : title
    labels.add(unique)
    items.set(itemId, { itemId, label: unique, scoreMaximum })
  }
  return items
}

/** Returns a score in points of its item; Classroom rounds to two decimal places. */
function scaled({ scoreGiven, scoreMaximum }: Grade, maximum: number): number | null {
  if (scoreGiven === null) return null
  return Math.round((scoreMaximum > 0 ? (scoreGiven * maximum) / scoreMaximum : scoreGiven) * 100) / 100
}

type ClassroomCourse = NonNullable<Awaited<ReturnType<typeof readCourse>>>

/** Reads a course of Classroom by the alias of its external id; null if there is none. */
export async function readCourse(
  context: Pick<Context, 'session' | 'io'>,
  key: string,
  parts: ReadonlySet<string>,
) {
  const list = (part: RecordPart, of: string) => readList(context, part, of)
  const [course = null] = [...(await list('courses', `d:${key}`)), ...(await list('courses', `p:${key}`))]
  if (course?.id == null) return null
  const people = await list('enrollments', course.id)
  const isGraded = parts.has('grades')
  const [works, submissions] = isGraded
    ? [await list('items', course.id), await list('grades', course.id)]
    : [[], []]
  const emails = new Map<string, string>()
  const addEmails = (records: readonly PulledRecord[]) => {
    for (const { part, id, record } of records) {
      if (part === 'users' && typeof record['email'] === 'string')
        emails.set(id ?? '', lower(record['email']))
    }
  }
  addEmails(people)
  const enrolments = people.filter(({ part }) => part === 'enrollments').map(({ record }) => record)
  const userOf = (record: PulledRecord['record'], name: string) => String(record[name]).replace(/^own:/, '')
  const invitees = enrolments
    .filter(({ status }) => status === 'invited')
    .map((record) => userOf(record, 'userId'))
  for (const id of invitees.filter((each) => !emails.has(each))) addEmails(await list('users', id))
  const members = enrolments.filter(({ status }) => status === 'active')
  const roles = new Map(
    members.flatMap((record) => {
      const email = emails.get(userOf(record, 'userId'))
      return email === undefined ? [] : [[email, String(record['role'])] as const]
    }),
  )
  const own = works.filter(({ record }) => record['isWritable'] === true)
  return {
    id: course.id,
    title: String(course.record['title'] ?? ''),
    description: String(course.record['description'] ?? ''),
    status: String(course.record['status'] ?? ''),
    /** By e-mail address in lower case. */
    roles,
    invited: new Set(invitees.flatMap((id) => emails.get(id) ?? [])),
    /** Work of the same project, by title. */
    items: new Map(
      own.map(({ id, record }) => [
        String(record['label']),
        { id: id ?? '', scoreMaximum: numberOrNull(record['scoreMaximum']) },
      ]),
    ),
    /** By course work and e-mail address. */
    submissions: new Map(
      submissions.flatMap(({ id, record }) => {
        const email = emails.get(userOf(record, 'learnerId'))
        if (email === undefined || id === null) return []
        const { scoreGiven, published, state } = record
        const submission = { id, published: published === true, state: String(state) }
        const key = submissionKey(String(record['itemId']), email)
        return [[key, { ...submission, scoreGiven: numberOrNull(scoreGiven) }] as const]
      }),
    ),
  }
}

function numberOrNull(value: unknown): number | null {
  return typeof value === 'number' ? value : null
}

/** Addresses are compared without case. */
export function lower(email: string): string {
  return email.trim().toLowerCase()
}

async function readList(
  { session, io }: Pick<Context, 'session' | 'io'>,
  part: RecordPart,
  of: string,
): Promise<readonly PulledRecord[]> {
  const caller = await session.caller()
  const found: PulledRecord[] = []
  let cursor: string | null = null
  do {
    const page: ForeignRecords = await readPage(caller, io, 'classroom', { part, of, cursor })
    found.push(...page.data)
    cursor = page.nextCursor
  } while (cursor !== null)
  return found
}
