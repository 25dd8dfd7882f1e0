import { valueAt } from '../../tables/column.ts'
import type { Given } from '../command/command.ts'
import { capitalise } from '../terminal/format-text.ts'

/** `Marine Biology (BIO-101)`; the given reference for a thing without a title or name. */
export function thingName(thing: unknown, reference = ''): string {
  const first = (...fields: readonly string[]) =>
    fields
      .map((field) => valueAt(thing, field))
      .find(
        (value) => ['number', 'bigint'].includes(typeof value) || (typeof value === 'string' && value !== ''),
      )
  const names = [valueAt(thing, 'profile.firstName'), valueAt(thing, 'profile.lastName')]
  const whole = names.filter((name) => typeof name === 'string').join(' ')
  const label = first('title', 'name', 'clientName', 'profile.displayName') ?? whole
  const known = first('email', 'externalId', 'id', 'clientId') ?? reference
  return label === '' ? String(known) : known === '' ? String(label) : `${label} (${known})`
}

function inVersion(thing: unknown): string {
  const version = valueAt(thing, 'version')
  return ['number', 'bigint'].includes(typeof version) ? `, version ${version}` : ''
}

/** `Updated user Ada (ada@example.org), version 3`; without changes `User Ada (ada@example.org) is already suspended`. */
export function updatedLine(
  verb: string,
  name: string,
  answer: unknown,
  unchanged: boolean,
  state?: string,
): string {
  if (!unchanged) return `${verb} ${name}${inVersion(answer)}`
  if (state === undefined) return `No changes to ${name}${inVersion(answer)}`
  return `${capitalise(name)} is already ${state}`
}

/** `learner ada@example.org`; the given reference if the answer has none. */
export function personIn(answer: unknown, given: unknown, noun = 'learner'): string {
  const known = valueAt(answer, 'userEmail') ?? given ?? valueAt(answer, `${noun}Id`)
  return `${noun} ${String(known)}`
}

/** Returns the course title in an answer; the given reference if the answer has none. */
export function courseIn(answer: unknown, { flags }: Given): string {
  return String(valueAt(answer, 'courseTitle') ?? flags['course'] ?? valueAt(answer, 'courseId'))
}
