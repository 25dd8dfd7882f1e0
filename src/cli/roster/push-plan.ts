import type * as z from 'zod'
import type { ForeignWrite } from '../../contract/foreign-records.ts'
import { type ClassroomCourse, lower, submissionKey, type WantedCourse } from './push-state.ts'

/** Counted at the end. */
export const countedParts = ['courses', 'enrollments', 'items', 'grades'] as const
export type CountedPart = (typeof countedParts)[number]

/** A record that Classroom shall have, compared with what it has. */
export interface Compared {
  readonly part: CountedPart
  /** The record in words: `ada@school.example in Biology`. */
  readonly name: string
  /** Invited people have to accept before anything can be written for them. */
  readonly state: 'equal' | 'invited' | 'create' | 'update'
  /** How Classroom gets it; null if something else has to be written first. */
  readonly write: z.input<typeof ForeignWrite> | null
}

/** Compares a course of the academy with that of Classroom; null if there is none yet. */
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

export interface PushCounts {
  /** Records that Classroom shall have. */
  readonly wanted: number
  /** Records that it has already. */
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
