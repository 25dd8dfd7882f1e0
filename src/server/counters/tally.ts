import type { CountedEnrollment } from './counted-enrollment.ts'

/** How many learners stand somewhere, and the sum of what is told of each: a row of `counters`. */
export interface Tally {
  readonly kind: string
  /** A course's id; empty for the academy as a whole. */
  readonly courseId: string
  /** Where they stand: hundredths of a per cent, a day as 20260131, 0 where there is but one place. */
  readonly place: number
  readonly learners: number
  /** A sum in millionths of a per cent: whole numbers, which a column `real` adds and takes away without a trace. */
  readonly amount: number
}

/** Percentage completed below which a learner without progress is stuck. */
export const stuckBelow = 50

/** The ways to stand in a course: a status of progress, or none of it at all. */
export const standings = ['none', 'not_started', 'in_progress', 'completed'] as const
export type CountedStatus = (typeof standings)[number]

/** What is counted of those in one standing: all, all by percentage, and the graded, whose sum is that of grades. */
export const kindsOf = (status: CountedStatus, gone: boolean) => kinds[status][gone ? 'gone' : 'there']

const kinds = {
  none: kindsNamed('none'),
  not_started: kindsNamed('not_started'),
  in_progress: kindsNamed('in_progress'),
  completed: kindsNamed('completed'),
}

function kindsNamed(status: CountedStatus) {
  const named = (all: string) => ({ all, at: `${all} at`, graded: `${all} graded` })
  return { there: named(status), gone: named(`deleted ${status}`) }
}

/**
 * Who may need attention, whatever the time is: `open` has an active enrolment that is not completed, `early` is in
 * progress below the half, both by the day of the last access or rise as well; `failed` has an active enrolment and a grade
 * below the passing score.
 */
export const attentionTallies = ['open', 'open since', 'early', 'early since', 'failed'] as const

/** Those whose places are days. Days longer ago are all the same: nobody asks for them. */
export const dayKinds: readonly string[] = ['open since', 'early since']

/** Days that are kept apart: more than it takes to be called inactive. */
const daysKept = 21
const dayMs = 24 * 60 * 60 * 1000

/** The first day that is kept apart at a time, both in UTC. */
export function firstDayKept(now: string): number {
  const today = now.slice(0, 10)
  if (today !== lastDay.today) {
    const first = new Date(Date.parse(today) - daysKept * dayMs).toISOString()
    lastDay = { today, first: dayNumber(first) }
  }
  return lastDay.first
}

// Every write asks for it, and it is the same for a day.
let lastDay = { today: '', first: 0 }

/** Learners who are enrolled anywhere, each counted once, for the academy as a whole. */
export const learnersKind = (gone: boolean) => (gone ? 'deleted learners' : 'learners')

/** Every kind that a course has rows of. */
export const courseKinds: readonly string[] = [
  ...standings.flatMap((status) => [false, true].flatMap((gone) => Object.values(kindsOf(status, gone)))),
  ...attentionTallies,
]

/** The kinds of a course that are counted for the academy as a whole, too. */
export const sharedKinds: readonly string[] = standings.flatMap((status) =>
  [false, true].flatMap((gone) => {
    const { at, graded } = kindsOf(status, gone)
    return [at, graded]
  }),
)

/** A percentage in millionths of a per cent. */
export function millionths(percentage: number): number {
  return Math.floor(percentage * 1_000_000 + 0.5)
}

/** A percentage from such a sum. */
export function ofMillionths(amount: number): number {
  return amount / 1_000_000
}

/** The day of a time, in UTC, as a number that grows with it: 20260131. */
export function dayNumber(time: string): number {
  return Number(time.slice(0, 4)) * 10_000 + Number(time.slice(5, 7)) * 100 + Number(time.slice(8, 10))
}

/** In which counters an enrolment stands, each with 1; days before the first are in none. */
export function talliesOf(enrollment: CountedEnrollment, firstDay: number): Tally[] {
  const { courseId, gone, status, percentage, grade, passingScore, lastSeen, risenAt } = enrollment
  // The statuses are those of the contract, and `none`.
  const { all, at, graded } = kindsOf(status as CountedStatus, gone)
  const amount = millionths(percentage)
  const place = Math.floor(percentage * 100)
  const tallies = [
    one(all, courseId, 0, amount),
    one(at, courseId, place, amount),
    one(at, '', place, amount),
  ]
  if (grade !== null) {
    tallies.push(one(graded, courseId, 0, millionths(grade)), one(graded, '', 0, millionths(grade)))
  }
  if (gone) return tallies
  const isActive = enrollment.enrollment === 'active'
  if (isActive && status !== 'completed') {
    tallies.push(one('open', courseId, 0))
    if (dayNumber(lastSeen) >= firstDay) tallies.push(one('open since', courseId, dayNumber(lastSeen)))
  }
  if (isActive && status === 'in_progress' && percentage < stuckBelow && risenAt !== null) {
    tallies.push(one('early', courseId, 0))
    if (dayNumber(risenAt) >= firstDay) tallies.push(one('early since', courseId, dayNumber(risenAt)))
  }
  if (grade !== null && grade < passingScore && isActive) {
    tallies.push(one('failed', courseId, 0))
  }
  return tallies
}

function one(kind: string, courseId: string, place: number, amount = 0): Tally {
  return { kind, courseId, place, learners: 1, amount }
}

/** What an enrolment changes in the counters from one standing to another: those that stay as they are left out. */
export function changedTallies(before: readonly Tally[], after: readonly Tally[]): Tally[] {
  const gone = before.map((one) => times(one, -1))
  const added: Tally[] = []
  // Ten at most: comparing them all takes less time than keys made of them.
  for (const one of after) {
    const index = gone.findIndex(
      (other) => other.place === one.place && other.kind === one.kind && other.courseId === one.courseId,
    )
    const other = gone[index]
    if (!other) added.push(one)
    else gone[index] = { ...one, learners: one.learners + other.learners, amount: one.amount + other.amount }
  }
  return [...gone, ...added].filter(isSomething)
}

/** Tallies by what and where they count; only `addTallies` puts any in. */
export type Sums = Map<string, { -readonly [Name in keyof Tally]: Tally[Name] }>

/** Adds tallies to those that are there, each by its place. */
export function addTallies(sums: Sums, tallies: readonly Tally[], sign: 1 | -1 = 1): void {
  for (const one of tallies) {
    const key = `${one.kind}\n${one.courseId}\n${one.place}`
    const before = sums.get(key)
    if (!before) {
      sums.set(key, times(one, sign))
      continue
    }
    before.learners += sign * one.learners
    before.amount += sign * one.amount
  }
}

function times({ kind, courseId, place, learners, amount }: Tally, sign: 1 | -1): Tally {
  return { kind, courseId, place, learners: sign * learners, amount: sign * amount }
}

function isSomething({ learners, amount }: Tally): boolean {
  return learners !== 0 || amount !== 0
}

/** Those that say anything. */
export function withoutNothing(sums: ReadonlyMap<string, Tally>): Tally[] {
  return [...sums.values()].filter(isSomething)
}
