import type { Given } from '../command/command.ts'
import { valueAt } from '../output/columns.ts'

/**
 * How people know a thing that the API answered: its title or name, and what commands take for it in parentheses,
 * `Marine Biology (BIO-101)`. Without either it is the reference that was given.
 */
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

/** `, version 3` for a thing that has versions, else nothing. */
export function inVersion(thing: unknown): string {
  const version = valueAt(thing, 'version')
  return ['number', 'bigint'].includes(typeof version) ? `, version ${version}` : ''
}

/**
 * The line of an update, from its verb on: `Updated user Ada (ada@example.org), version 3`. Where it changed nothing, says
 * so, with `state` as `User Ada (ada@example.org) is already suspended`.
 */
export function updatedLine(
  verb: string,
  name: string,
  answer: unknown,
  unchanged: boolean,
  state?: string,
): string {
  if (!unchanged) return `${verb} ${name}${inVersion(answer)}`
  if (state === undefined) return `No changes to ${name}${inVersion(answer)}`
  return `${name.charAt(0).toUpperCase()}${name.slice(1)} is already ${state}`
}

/** The person that an answer is about, `learner ada@example.org`; as they were given where it does not say. */
export function personIn(answer: unknown, given: unknown, noun = 'learner'): string {
  const known = valueAt(answer, 'userEmail') ?? given ?? valueAt(answer, `${noun}Id`)
  return `${noun} ${String(known)}`
}

/** The title of the course that an answer is about; the course as it was given where it does not say. */
export function courseIn(answer: unknown, { flags }: Given): string {
  return String(valueAt(answer, 'courseTitle') ?? flags['course'] ?? valueAt(answer, 'courseId'))
}
