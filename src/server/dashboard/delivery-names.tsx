import type { Delivery } from '../../contract/deliveries.ts'
import { shown } from './value-text.tsx'

/** What a delivery calls its event, in so many characters at most: a malformed one may not say. */
export function eventName({ event }: Delivery, most: number): string {
  return event === '' ? 'Unknown event' : shown(event, most)
}

/** Whom a delivery is about, with the way to them; a dash, or what is given instead, where that is not known here. */
export function Learner({ base, delivery, otherwise }: Named) {
  const { learnerId, userEmail } = delivery
  if (learnerId === null) return <Key of={otherwise} />
  return (
    <a href={`${base}/dashboard/learners/${encodeURIComponent(learnerId)}`}>
      {shown(userEmail ?? learnerId, 254)}
    </a>
  )
}

/** The course that a delivery is about, in the same way. */
export function Course({ base, delivery, otherwise }: Named) {
  const { courseId, courseTitle } = delivery
  if (courseId === null) return <Key of={otherwise} />
  return (
    <a href={`${base}/dashboard/courses/${encodeURIComponent(courseId)}`}>
      {shown(courseTitle ?? courseId, 255)}
    </a>
  )
}

interface Named {
  readonly base: string
  readonly delivery: Delivery
  /** What the other system calls it. */
  readonly otherwise?: string | undefined
}

function Key({ of: key }: { of: string | undefined }) {
  return key === undefined ? <span class="none">–</span> : <code>{shown(key, 120)}</code>
}
