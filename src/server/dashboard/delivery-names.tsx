import type { Delivery } from '../../contract/deliveries.ts'
import { shown } from './value-text.tsx'

/** What a delivery calls its event, in so many characters at most: a malformed one may not say. */
export function eventName({ event }: Delivery, most: number): string {
  return event === '' ? 'Unknown event' : shown(event, most)
}

/** Whom a delivery is about, with the way to them; a dash, or what is given instead, where that is not known here. */
export function Learner({ base, delivery: { learnerId, userEmail }, otherwise }: Named) {
  return <Linked {...{ base, otherwise }} place="learners" id={learnerId} name={userEmail} />
}

/** The course that a delivery is about, in the same way. */
export function Course({ base, delivery: { courseId, courseTitle }, otherwise }: Named) {
  return <Linked {...{ base, otherwise }} place="courses" id={courseId} name={courseTitle} />
}

interface Named {
  readonly base: string
  readonly delivery: Delivery
  /** What the other system calls it. */
  readonly otherwise?: string | undefined
}

function Linked({
  base,
  place,
  id,
  name,
  otherwise,
}: Omit<Named, 'delivery'> & {
  readonly place: string
  readonly id: string | null
  readonly name: string | null
}) {
  if (id !== null) {
    return <a href={`${base}/dashboard/${place}/${encodeURIComponent(id)}`}>{shown(name ?? id, 255)}</a>
  }
  return otherwise === undefined ? <span class="none">–</span> : <code>{shown(otherwise, 120)}</code>
}
