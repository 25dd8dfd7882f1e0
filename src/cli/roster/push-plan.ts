import type { ForeignWrite } from '../../contract/foreign-writes.ts'
import { type ClassroomCourse, lower, submissionKey, type WantedCourse } from './push-state.ts'

/** Counted at the end. */
export type CountedPart = 'courses' | 'enrollments' | 'items' | 'grades'
export const countedParts = ['courses', 'enrollments', 'items', 'grades'] as const

export interface PushCounts {
  /** Records that Classroom shall have. */
  readonly wanted: number
  /** Records that it has already. */
  readonly equal: number
  /** Records that wait until people accept their invitations. */
  readonly invited: number
}

export interface Difference {
  readonly part: CountedPart
  /** The record in words: `ada@school.example in Biology`. */
  readonly name: string
  readonly action: 'create' | 'update'
  /** How Classroom gets it; null if something else has to be written first. */
  readonly write: ForeignWrite | null
}

export interface CourseCheck {
  readonly differences: readonly Difference[]
  readonly counts: Readonly<Record<CountedPart, PushCounts>>
  /** Number of students in Classroom that the academy does not have; they are not removed. */
  readonly extra: number
}

const nothing: ForeignWrite = {
  ...{ part: 'courses', id: null, courseId: null, externalId: null, title: null, description: null },
  ...{ status: null, email: null, role: null, label: null, scoreMaximum: null, itemId: null },
  ...{ scoreGiven: null, published: true, returned: false },
}

const statuses = ['draft', 'published', 'archived'] as const

/** Compares a course of the academy with that of Classroom; null if there is none yet. */
export function compareCourse(wanted: WantedCourse, found: ClassroomCourse | null): CourseCheck {
  const differences: Difference[] = []
  const counts = {
    courses: compareAttributes(wanted, found, differences),
    enrollments: compareMembers(wanted, found, differences),
    items: compareItems(wanted, found, differences),
    grades: compareGrades(wanted, found, differences),
  }
  const emails = new Set(wanted.members.map(({ email }) => lower(email)))
  const extra = [...(found?.roles ?? [])].filter(([email, role]) => role === 'learner' && !emails.has(email))
  return { differences, counts, extra: wanted.members.length === 0 ? 0 : extra.length }
}

function compareAttributes(
  { course }: WantedCourse,
  found: ClassroomCourse | null,
  to: Difference[],
): PushCounts {
  const { key, title, description } = course
  const status = statuses.find((each) => each === course.status) ?? null
  const own = {
    title: found?.title === title ? null : title,
    status: found?.status === status ? null : status,
  }
  const text = description === '' || description === found?.description ? null : description
  const isEqual = found !== null && own.title === null && own.status === null && text === null
  if (!isEqual) {
    const write = {
      ...nothing,
      ...own,
      description: text,
      id: found?.id ?? null,
      externalId: found ? null : key,
    }
    to.push({ part: 'courses', name: title, action: found ? 'update' : 'create', write })
  }
  return { wanted: 1, equal: isEqual ? 1 : 0, invited: 0 }
}

function compareMembers(
  { course, members }: WantedCourse,
  found: ClassroomCourse | null,
  to: Difference[],
): PushCounts {
  let [equal, invited] = [0, 0]
  for (const { email, role } of members) {
    if (found?.roles.get(lower(email)) === role) equal += 1
    else if (found?.invited.has(lower(email))) invited += 1
    else {
      const write = found && { ...nothing, part: 'enrollments' as const, courseId: found.id, email, role }
      to.push({ part: 'enrollments', name: `${email} in ${course.title}`, action: 'create', write })
    }
  }
  return { wanted: members.length, equal, invited }
}

function compareItems(
  { course, items }: WantedCourse,
  found: ClassroomCourse | null,
  to: Difference[],
): PushCounts {
  let equal = 0
  for (const { label, scoreMaximum } of items) {
    const known = found?.items.get(label)
    if (known?.scoreMaximum === scoreMaximum) {
      equal += 1
      continue
    }
    const own = {
      part: 'items' as const,
      courseId: found?.id ?? null,
      id: known?.id ?? null,
      label,
      scoreMaximum,
    }
    const write = found && { ...nothing, ...own }
    to.push({
      part: 'items',
      name: `${label} in ${course.title}`,
      action: known ? 'update' : 'create',
      write,
    })
  }
  return { wanted: items.length, equal, invited: 0 }
}

function compareGrades(
  { course, items, grades }: WantedCourse,
  found: ClassroomCourse | null,
  to: Difference[],
): PushCounts {
  const labels = new Map(items.map(({ itemId, label }) => [itemId, label]))
  let [equal, invited] = [0, 0]
  for (const { itemId, email, scoreGiven, published } of grades) {
    const label = labels.get(itemId) ?? ''
    const item = found?.items.get(label)
    const submission = item && found?.submissions.get(submissionKey(item.id, lower(email)))
    // A grade that Classroom shows stays visible.
    const isHeldBack = !published && submission?.published === true
    const isSame =
      submission?.scoreGiven === scoreGiven && (submission.published === published || scoreGiven === null)
    const isWaiting = published && scoreGiven !== null && submission?.state === 'TURNED_IN'
    if (isHeldBack || (isSame && !isWaiting)) equal += 1
    else if (!submission && found?.invited.has(lower(email))) invited += 1
    else if (scoreGiven === null && !submission) equal += 1
    else {
      const write = submission && {
        ...{ ...nothing, part: 'grades' as const, courseId: found?.id ?? null, itemId: item?.id ?? null },
        ...{ id: submission.id, scoreGiven, published, returned: isWaiting },
      }
      const name = `${label} of ${email} in ${course.title}`
      to.push({ part: 'grades', name, action: submission ? 'update' : 'create', write: write ?? null })
    }
  }
  return { wanted: grades.length, equal, invited }
}

export function sumCounts(checks: readonly CourseCheck[]): Readonly<Record<CountedPart, PushCounts>> {
  const sum = (part: CountedPart): PushCounts => ({
    wanted: checks.reduce((all, { counts }) => all + counts[part].wanted, 0),
    equal: checks.reduce((all, { counts }) => all + counts[part].equal, 0),
    invited: checks.reduce((all, { counts }) => all + counts[part].invited, 0),
  })
  return {
    ...{ courses: sum('courses'), enrollments: sum('enrollments') },
    ...{ items: sum('items'), grades: sum('grades') },
  }
}
