import { memberOf } from '../../client/member.ts'
import { valueAt } from '../output/columns.ts'

/**
 * How people know a thing that the API answered: its title or name, and what commands take for it in parentheses,
 * `Marine Biology (BIO-101)`. Without either it is the reference that was given.
 */
export function thingName(thing: unknown, reference = ''): string {
  const first = (...fields: readonly string[]) =>
    fields
      .map((field) => memberOf(thing, field))
      .find(
        (value) => ['number', 'bigint'].includes(typeof value) || (typeof value === 'string' && value !== ''),
      )
  const names = [memberOf(thing, 'profile.firstName'), memberOf(thing, 'profile.lastName')]
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
