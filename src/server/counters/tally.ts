import { stuckBelow } from '../../contract/constants.ts'
import type { CountedEnrollment } from './counted-enrollment.ts'

/** A row of `counters`. */
export interface Tally {
  readonly kind: string
  /** Empty for the whole academy. */
  readonly courseId: string
  /** Hundredths of a per cent, a day such as 20260131, or 0, by kind. */
  readonly place: number
  readonly learners: number
  /** Sum in millionths of a per cent: integers, which a `real` column adds and subtracts exactly. */
  readonly amount: number
}

/** Statuses of progress, or `none`. */
export const standings = ['none', 'in_progress', 'completed'] as const
export type CountedStatus = (typeof standings)[number]

/** All, all by percentage, graded (with the sum of grades), passed, and graded by grade. */
export function kindsOf(status: CountedStatus, isUserDeleted: boolean) {
  return kinds[status][isUserDeleted ? 'deleted' : 'others']
}

const kinds = {
  none: kindsNamed('none'),
  in_progress: kindsNamed('in_progress'),
  completed: kindsNamed('completed'),
}

function kindsNamed(status: CountedStatus) {
  const named = (all: string) => ({
    all,
    at: `${all} at`,
    graded: `${all} graded`,
    passed: `${all} passed`,
    gradedAt: `${all} graded at`,
  })
  return { others: named(status), deleted: named(`deleted ${status}`) }
}

/**
 * Kinds of learners who may need attention: `open` is active and not completed, `early` is in progress below 50%, both also
 * by the day of the last access or rise (`since`).
 */
const attentionTallies = ['open', 'open since', 'early', 'early since'] as const

/** Their places are days. */
export const dayKinds: readonly string[] = ['open since', 'early since']

/** More than until a learner is inactive. */
const countedDays = 21
const dayMs = 24 * 60 * 60 * 1000

/** In UTC. */
export function firstCountedDay(now: string): number {
  const today = now.slice(0, 10)
  if (today !== cachedDay.today) {
    const first = new Date(Date.parse(today) - countedDays * dayMs).toISOString()
    cachedDay = { today, first: dayNumber(first) }
  }
  return cachedDay.first
}

// Cached for a day: every write needs it.
let cachedDay = { today: '', first: 0 }

/** Distinct learners of the academy. */
export function learnersKind(isUserDeleted: boolean): string {
  return isUserDeleted ? 'deleted learners' : 'learners'
}

export const courseKinds: readonly string[] = [
  ...standings.flatMap((status) =>
    [false, true].flatMap((isDeleted) => Object.values(kindsOf(status, isDeleted))),
  ),
  ...attentionTallies,
]

/** Kinds of a course that are also counted for the academy. */
export const sharedKinds: readonly string[] = standings.flatMap((status) =>
  [false, true].flatMap((isDeleted) => {
    const { at, graded, passed, gradedAt } = kindsOf(status, isDeleted)
    return [at, graded, passed, gradedAt]
  }),
)

export function millionths(percentage: number): number {
  return Math.floor(percentage * 1_000_000 + 0.5)
}

export function ofMillionths(amount: number): number {
  return amount / 1_000_000
}

/** In hundredths of a per cent; rounded up above 100, so that 100 shares its place with none. */
export function gradePlaceOf(grade: number): number {
  return grade > 100 ? Math.ceil(grade * 100) : Math.floor(grade * 100)
}

/** In UTC: 20260131. */
export function dayNumber(time: string): number {
  return Number(time.slice(0, 4)) * 10_000 + Number(time.slice(5, 7)) * 100 + Number(time.slice(8, 10))
}

/** Each goes up by 1; days before the first are left out. */
export function talliesOf(enrollment: CountedEnrollment, firstDay: number): Tally[] {
  const { courseId, isUserDeleted, status, percentage, grade, passingScore, lastSeen, risenAt } = enrollment
  const { all, at, graded, passed, gradedAt } = kindsOf(status as CountedStatus, isUserDeleted)
  const amount = millionths(percentage)
  const place = Math.floor(percentage * 100)
  const tallies = [
    tallyOf(all, courseId, 0, amount),
    tallyOf(at, courseId, place, amount),
    tallyOf(at, '', place, amount),
  ]
  if (grade !== null) {
    const sum = millionths(grade)
    tallies.push(tallyOf(graded, courseId, 0, sum), tallyOf(graded, '', 0, sum))
    const gradePlace = gradePlaceOf(grade)
    tallies.push(tallyOf(gradedAt, courseId, gradePlace, sum), tallyOf(gradedAt, '', gradePlace, sum))
    if (grade >= passingScore) tallies.push(tallyOf(passed, courseId, 0), tallyOf(passed, '', 0))
  }
  if (isUserDeleted) return tallies
  const isActive = enrollment.enrollment === 'active'
  if (isActive && status !== 'completed') {
    tallies.push(tallyOf('open', courseId, 0))
    if (dayNumber(lastSeen) >= firstDay) tallies.push(tallyOf('open since', courseId, dayNumber(lastSeen)))
  }
  if (isActive && status === 'in_progress' && percentage < stuckBelow && risenAt !== null) {
    tallies.push(tallyOf('early', courseId, 0))
    if (dayNumber(risenAt) >= firstDay) tallies.push(tallyOf('early since', courseId, dayNumber(risenAt)))
  }
  return tallies
}

function tallyOf(kind: string, courseId: string, place: number, amount = 0): Tally {
  return { kind, courseId, place, learners: 1, amount }
}

export function changedTallies(before: readonly Tally[], after: readonly Tally[]): Tally[] {
  const removed = before.map((one) => multiply(one, -1))
  const added: Tally[] = []
  // Less than twenty: comparing all is faster than building keys.
  for (const one of after) {
    const index = removed.findIndex(
      (other) => other.place === one.place && other.kind === one.kind && other.courseId === one.courseId,
    )
    const other = removed[index]
    if (!other) added.push(one)
    else
      removed[index] = { ...one, learners: one.learners + other.learners, amount: one.amount + other.amount }
  }
  return [...removed, ...added].filter(isNonZero)
}

/** By kind, course and place; filled by `addTallies`. */
export type Sums = Map<string, { -readonly [Name in keyof Tally]: Tally[Name] }>

export function addTallies(sums: Sums, tallies: readonly Tally[], sign: 1 | -1 = 1): void {
  for (const one of tallies) {
    const key = `${one.kind}\n${one.courseId}\n${one.place}`
    const before = sums.get(key)
    if (!before) {
      sums.set(key, multiply(one, sign))
      continue
    }
    before.learners += sign * one.learners
    before.amount += sign * one.amount
  }
}

function multiply({ kind, courseId, place, learners, amount }: Tally, sign: 1 | -1): Tally {
  return { kind, courseId, place, learners: sign * learners, amount: sign * amount }
}

function isNonZero({ learners, amount }: Tally): boolean {
  return learners !== 0 || amount !== 0
}

export function nonZero(sums: ReadonlyMap<string, Tally>): Tally[] {
  return [...sums.values()].filter(isNonZero)
}
